#include <algorithm>
#include <cmath>

#include "op/route/kernels.h"
#include "op/route/route.h"
#include "op/share.h"

namespace ridge::op {
namespace {

// The `used` largest, in order; equal ones as they come. Insertion: a token uses few.
void keep_best(const float* row, std::int64_t experts, std::int64_t used, std::int32_t* best) {
  std::int64_t kept = 0;
  for (std::int64_t e = 0; e < experts; ++e) {
    if (kept == used && !(row[e] > row[best[used - 1]])) continue;
    std::int64_t at = kept < used ? kept++ : used - 1;
    for (; at > 0 && row[e] > row[best[at - 1]]; --at) best[at] = best[at - 1];
    best[at] = std::int32_t(e);
  }
}

}  // namespace

void route_cpu(const ir::Bound& b) {
  const auto& params = b.as<RouteParams>();
  const View logits = b.in[0];
  share_rows(b.pool, logits.rows(), 16 * logits.columns(), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t t = begin; t < end; ++t) {
      const float* row = logits.row_as<float>(t);
      auto* const best = b.out[0].row_as<std::int32_t>(t);
      float* const weights = b.out[1].row_as<float>(t);
      keep_best(row, logits.columns(), params.used, best);
      float sum = 0;
      for (int j = 0; j < params.used; ++j) sum += weights[j] = std::exp(row[best[j]] - row[best[0]]);
      if (params.weights == RouteWeights::probabilities) {
        sum = 0;
        for (std::int64_t e = 0; e < logits.columns(); ++e) sum += std::exp(row[e] - row[best[0]]);
      }
      for (int j = 0; j < params.used; ++j) weights[j] /= sum;
    }
  });
}

}  // namespace ridge::op
