#include <algorithm>
#include <cmath>
#include <vector>

#include "op/sampling/kernels.h"
#include "op/sampling/sampling.h"

namespace ridge::op {
namespace {

void adjust(std::vector<float>& logits, const SampleControl& c, const SampleAdjust* adjusts) {
  for (int i = c.adjust_begin; i < c.adjust_end; ++i) {
    const SampleAdjust& a = adjusts[i];
    float& x = logits[std::size_t(a.token)];
    x += a.bias;
    if (a.seen) x = x > 0 ? x / c.repetition : x * c.repetition;
    x -= float(a.generated) * c.frequency + (a.generated > 0 ? c.presence : 0.0f);
  }
}

// Uniform in [0, 1): splitmix64 of the seed, then of the position.
double uniform(std::uint64_t seed, std::uint64_t position) {
  auto mix = [](std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  };
  const std::uint64_t key = mix(seed + 0x9e3779b97f4a7c15u);
  return double(mix(key + (position + 1) * 0x9e3779b97f4a7c15u) >> 11) * 0x1p-53;
}

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
  for (std::int32_t id : order) total += weight.emplace_back(std::exp((double(logits[id]) - logits[order[0]]) / c.temperature));
  std::size_t kept = 0;
  for (double sum = 0; kept < order.size(); ++kept) {  // the fewest tokens whose probability reaches top_p, the first always
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
    adjust(row, c, b.in[2].as<SampleAdjust>());
    const bool nan = std::any_of(row.begin(), row.end(), [](float x) { return std::isnan(x); });
    const bool any = std::any_of(row.begin(), row.end(), [](float x) { return std::isfinite(x); });
    b.out[0].as<std::int32_t>()[r] = nan || !any ? -1 : draw(row, c);
  }
}

}  // namespace ridge::op
