#include "op/sampling/row.h"

namespace ridge::op {

void adjust_logits(float* logits, const SampleControl& c, const SampleAdjust* adjusts) {
  for (int i = c.adjust_begin; i < c.adjust_end; ++i) {
    const SampleAdjust& a = adjusts[i];
    float& x = logits[a.token];
    x += a.bias;
    if (a.seen) x = x > 0 ? x / c.repetition : x * c.repetition;
    x -= float(a.generated) * c.frequency + (a.generated > 0 ? c.presence : 0.0f);
  }
}

double uniform(std::uint64_t seed, std::uint64_t position) {  // splitmix64 of the seed, then of the position
  auto mix = [](std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  };
  const std::uint64_t key = mix(seed + 0x9e3779b97f4a7c15u);
  return double(mix(key + (position + 1) * 0x9e3779b97f4a7c15u) >> 11) * 0x1p-53;
}

}  // namespace ridge::op
