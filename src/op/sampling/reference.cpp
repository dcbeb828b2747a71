#include <algorithm>
#include <cmath>
#include <vector>

#include "op/sampling/kernels.h"
#include "op/sampling/row.h"
#include "op/sampling/sampling.h"

namespace ridge::op {
namespace {

std::int32_t draw(const std::vector<float>& logits, const SampleControl& c) {
  std::vector<std::int32_t> order;
  for (std::size_t i = 0; i < logits.size(); ++i)
    if (std::isfinite(logits[i])) order.push_back(std::int32_t(i));
  auto before = [&](std::int32_t a, std::int32_t b) { return logits[a] != logits[b] ? logits[a] > logits[b] : a < b; };
  std::sort(order.begin(), order.end(), before);
  if (c.temperature <= 0) return order[0];
  if (c.top_k > 0 && std::size_t(c.top_k) < order.size()) order.resize(std::size_t(c.top_k));
  std::vector<double> weight;
  double total = 0;
  for (std::int32_t id : order)
    total += weight.emplace_back(std::exp((double(logits[id]) - logits[order[0]]) / c.temperature));
  std::size_t kept = 0;
  for (double sum = 0; kept < order.size();
       ++kept) {  // the fewest tokens whose probability reaches top_p, the first always
    if (kept > 0 && (sum >= c.top_p * total || weight[kept] < c.min_p * weight[0])) break;
    sum += weight[kept];
  }
  double left = 0;
  for (std::size_t i = 0; i < kept; ++i) left += weight[i];
  double target = uniform(c.seed, c.position) * left;
  for (std::size_t i = 0; i < kept; ++i) {
    target -= weight[i];
    if (target < 0) return order[i];
  }
  return order[kept - 1];
}

}  // namespace

void sampling_ref(const ir::Bound& b) {
  const View logits = b.in[0];
  for (std::int64_t r = 0; r < logits.rows(); ++r) {
    const SampleControl& c = b.in[1].as<SampleControl>()[r];
    std::vector<float> row(logits.row_as<float>(r), logits.row_as<float>(r) + logits.columns());
    adjust_logits(row.data(), c, b.in[2].as<SampleAdjust>());
    const bool broken = std::any_of(row.begin(), row.end(), [](float x) { return std::isnan(x) || x == INFINITY; });
    const bool any = std::any_of(row.begin(), row.end(), [](float x) { return std::isfinite(x); });
    b.out[0].as<std::int32_t>()[r] = broken || !any ? -1 : draw(row, c);
  }
}

}  // namespace ridge::op
