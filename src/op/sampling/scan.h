// The passes over a whole row of logits, in vectors.
#pragma once
#include <cstdint>

#include "op/simd_level.h"

namespace ridge::op {

struct Candidate {  // a token that may be drawn
  float logit;
  std::int32_t id;
  double weight;  // exp((logit - largest) / temperature)
};
// The order in which tokens are drawn from.
inline bool before(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

struct Scan {
  // The largest of n logits; NaN if one is NaN.
  float (*largest)(const float* logits, std::int64_t n);
  // The first that equals `value`, which is there.
  std::int64_t (*find)(const float* logits, std::int64_t n, float value);
  // Sum of exp((x - largest) * scale), of no less than e^-700 each.
  double (*total_weight)(const float* logits, std::int64_t n, float largest, double scale);
  // All with x > floor, in order of id, `weight` unset; stops before a vector that might not fit into `room` and says
  // where it stopped.
  std::int64_t (*collect)(const float* logits, std::int64_t first, std::int64_t n, float floor, Candidate* out,
                          std::int64_t room, std::int64_t& count);
  void (*weigh)(Candidate* candidates, std::int64_t n, float largest, double scale);
};
inline constexpr std::int64_t scan_slack = 16;  // candidates that collect may want free: a vector's lanes
Scan scan_at(SimdLevel level);

}  // namespace ridge::op
