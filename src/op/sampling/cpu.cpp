// Draws without sorting the vocabulary: passes over the row find what can be drawn at all, and only that is ordered,
// only as far as the draw needs it.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "base/thread_pool.h"
#include "op/sampling/kernels.h"
#include "op/sampling/row.h"
#include "op/sampling/scan.h"

namespace ridge::op {
namespace {

std::int64_t lines(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }
std::int64_t worker_bytes(std::int64_t vocabulary) {
  return lines(vocabulary * std::int64_t(sizeof(float))) +
         lines((vocabulary + scan_slack) * std::int64_t(sizeof(Candidate)));
}

struct Row {  // after adjusting
  std::span<const float> logits;
  const SampleControl& control;
  float largest;
  Candidate* candidates;  // room for all
  const Scan& scan;
};

double sum_of(std::span<const Candidate> list) {
  double sum = 0;
  for (const Candidate& c : list) sum += c.weight;
  return sum;
}

// Weighted quickselect: the index of the candidate at which the running sum of weights, in order, first passes
// `target`; all before it in order come to lie before it. Expected time is linear.
std::size_t quickselect(std::span<Candidate> list, double target) {
  std::size_t first = 0, last = list.size();
  while (last - first > 32) {
    const auto at = [&](std::size_t i) { return list.begin() + std::ptrdiff_t(i); };
    const Candidate a = list[first], b = list[(first + last) / 2], c = list[last - 1];
    const Candidate pivot = before(a, b) ? (before(b, c)   ? b
                                            : before(a, c) ? c
                                                           : a)
                                         : (before(a, c)   ? a
                                            : before(b, c) ? c
                                                           : b);
    const auto middle =
        std::partition(at(first), at(last), [&](const Candidate& x) { return !before(pivot, x); });  // pivot and before
    const std::size_t split = std::size_t(middle - list.begin());
    const double left = sum_of(list.subspan(first, split - first));
    if (split == last) {  // the pivot is the last in order: put it there, and go on without it
      std::iter_swap(std::find_if(at(first), at(last), [&](const Candidate& x) { return x.id == pivot.id; }),
                     at(last - 1));
      if (target >= left - pivot.weight) return last - 1;
      --last;
    } else if (target < left) {
      last = split;
    } else {
      target -= left, first = split;
    }
  }
  std::sort(list.begin() + std::ptrdiff_t(first), list.begin() + std::ptrdiff_t(last), before);
  for (; first + 1 < last; ++first) {
    target -= list[first].weight;
    if (target < 0) break;
  }
  return first;
}

// The k first in order, sorted.
std::span<Candidate> best(const Row& row, std::int64_t k) {
  const std::int64_t n = std::int64_t(row.logits.size()),
                     room = std::min(n, std::max<std::int64_t>(4 * k, 1024)) + scan_slack;
  float floor = -std::numeric_limits<float>::infinity();
  std::int64_t count = 0;
  for (std::int64_t at = 0; at < n;) {
    at = row.scan.collect(row.logits.data(), at, n, floor, row.candidates, room, count);
    if (at == n || count <= k) continue;
    std::nth_element(row.candidates, row.candidates + k - 1, row.candidates + count, before);
    count = k, floor = row.candidates[k - 1].logit;  // equals that come later have higher ids: they lose
  }
  if (count > k) std::nth_element(row.candidates, row.candidates + k - 1, row.candidates + count, before), count = k;
  std::sort(row.candidates, row.candidates + count, before);
  return {row.candidates, std::size_t(count)};
}

// Few candidates in order: as the reference does it.
std::int32_t draw_sorted(std::span<const Candidate> sorted, const SampleControl& c) {
  const double most = sorted[0].logit;
  auto weight = [&](const Candidate& x) { return std::exp((double(x.logit) - most) / double(c.temperature)); };
  double total = 0, left = 0;
  if (c.top_p < 1)
    for (const Candidate& x : sorted) total += weight(x);
  std::size_t kept = 0;
  for (; kept < sorted.size(); ++kept) {
    const double w = weight(sorted[kept]);
    if (kept > 0 && ((c.top_p < 1 && left >= double(c.top_p) * total) || w < double(c.min_p))) break;
    left += w;
  }
  double target = uniform(c.seed, c.position) * left;
  for (std::size_t i = 0; i < kept; ++i) {
    target -= weight(sorted[i]);
    if (target < 0) return sorted[i].id;
  }
  return sorted[kept - 1].id;
}

// All tokens whose weight is at least e^-distance.
std::span<Candidate> within(const Row& row, double distance) {
  const float floor = std::nextafter(float(row.largest - distance * double(row.control.temperature)),
                                     -std::numeric_limits<float>::infinity());
  std::int64_t count = 0;
  const std::int64_t n = std::int64_t(row.logits.size());
  row.scan.collect(row.logits.data(), 0, n, floor, row.candidates, n + scan_slack, count);
  row.scan.weigh(row.candidates, count, row.largest, 1 / double(row.control.temperature));
  return {row.candidates, std::size_t(count)};
}

std::int32_t draw_from_all(const Row& row) {
  const SampleControl& c = row.control;
  constexpr double usual = 10, all = 700;  // nearly always the first is enough; beyond the second, weights are nothing
  const double farthest = c.min_p > 0 ? std::min(all, 1e-9 - std::log(double(c.min_p))) : all;
  const double random = uniform(c.seed, c.position), top_p = c.top_p < 1 ? double(c.top_p) : 1;
  const bool needs_total = c.top_p < 1 || c.min_p <= 0;
  const double total = needs_total ? row.scan.total_weight(row.logits.data(), std::int64_t(row.logits.size()),
                                                           row.largest, 1 / double(c.temperature))
                                   : 0;
  const double needed = c.top_p < 1   ? top_p * total
                        : c.min_p > 0 ? std::numeric_limits<double>::infinity()
                                      : random * total;

  std::span<Candidate> list = within(row, std::min(usual, farthest));
  double sum = sum_of(list);
  if (sum <= needed && farthest > usual) list = within(row, farthest), sum = sum_of(list);
  if (c.min_p > 0) {
    list = list.first(std::size_t(
        std::partition(list.begin(), list.end(), [&](const Candidate& x) { return x.weight >= double(c.min_p); }) -
        list.begin()));
    sum = sum_of(list);
  }
  if (c.top_p < 1 && sum > needed) {  // up to the one at which the sum reaches what is needed
    list = list.first(quickselect(list, needed) + 1);
    const Candidate last = list.back();
    sum = sum_of(list);
    if (list.size() > 1 && sum - last.weight >= needed) list = list.first(list.size() - 1), sum -= last.weight;
  }
  if (c.top_p >= 1 && c.min_p <= 0) sum = total;
  return list[quickselect(list, random * sum)].id;
}

std::int32_t sample_row(std::span<const float> logits, const SampleControl& c, const Scan& scan,
                        Candidate* candidates) {
  const std::int64_t n = std::int64_t(logits.size());
  const Row row{logits, c, scan.largest(logits.data(), n), candidates, scan};
  if (!std::isfinite(row.largest)) return -1;
  if (c.temperature <= 0) return std::int32_t(scan.find(logits.data(), n, row.largest));
  if (c.top_k > 0 && c.top_k < n) return draw_sorted(best(row, c.top_k), c);
  return draw_from_all(row);
}

void sample_rows(const ir::Bound& b, const Scan& scan) {
  const View logits = b.in[0];
  const std::int64_t n = logits.columns();
  b.pool.parallel_ranges(logits.rows(), 1, [&](std::int64_t r, std::int64_t, int worker) {
    std::byte* const mine = b.scratch.data() + worker * worker_bytes(n);
    auto* const candidates = reinterpret_cast<Candidate*>(mine + lines(n * std::int64_t(sizeof(float))));
    const SampleControl& control = b.in[1].as<SampleControl>()[r];
    const float* row = logits.row_as<float>(r);
    if (control.adjust_begin < control.adjust_end) {
      auto* const copy = reinterpret_cast<float*>(mine);
      std::memcpy(copy, row, std::size_t(n) * sizeof(float));
      adjust_logits(copy, control, b.in[2].as<SampleAdjust>());
      row = copy;
    }
    b.out[0].as<std::int32_t>()[r] = sample_row({row, std::size_t(n)}, control, scan, candidates);
  });
}

template <SimdLevel level> void run_sampling(const ir::Bound& b) {
  static const Scan scan = scan_at(level);
  sample_rows(b, scan);
}

}  // namespace

ir::CpuKernel sampling_cpu(SimdLevel level) {
  return at_level<ir::CpuKernel>(level, run_sampling<SimdLevel::avx512>, run_sampling<SimdLevel::avx2>,
                                 run_sampling<SimdLevel::baseline>);
}

std::int64_t sampling_cpu_scratch(const ir::Program& p, const ir::Call& c, const ir::Target& target) {
  return target.threads * worker_bytes(p[c.in[0]].shape[1].size);
}

}  // namespace ridge::op
