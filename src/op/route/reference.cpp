#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "op/route/kernels.h"
#include "op/route/route.h"

namespace ridge::op {

void route_ref(const ir::Bound& b) {
  const auto& params = b.as<RouteParams>();
  const View logits = b.in[0];
  const std::int64_t experts = logits.columns();
  for (std::int64_t t = 0; t < logits.rows(); ++t) {
    const float* row = logits.row_as<float>(t);
    std::vector<std::int32_t> order(experts);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int32_t i, std::int32_t j) { return row[i] > row[j]; });
    const std::int64_t counted = params.weights == RouteWeights::normalized ? params.used : experts;
    double sum = 0;
    for (std::int64_t j = 0; j < counted; ++j) sum += std::exp(double(row[order[j]]) - row[order[0]]);
    for (int j = 0; j < params.used; ++j) {
      b.out[0].row_as<std::int32_t>(t)[j] = order[j];
      b.out[1].row_as<float>(t)[j] = float(std::exp(double(row[order[j]]) - row[order[0]]) / sum);
    }
  }
}

}  // namespace ridge::op
