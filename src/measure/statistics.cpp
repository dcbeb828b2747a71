#include "measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/error.h"

namespace ridge::measure {
namespace {

double percentile(const std::vector<double>& sorted, double p) {
  const double at = p * double(sorted.size() - 1);
  const std::size_t low = std::size_t(at), high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (sorted[high] - sorted[low]) * (at - double(low));
}

}  // namespace

Statistics statistics(std::span<const double> samples) {
  if (samples.empty()) fail_bug("statistics of no samples");
  std::vector<double> sorted(samples.begin(), samples.end());
  for (double v : sorted)
    if (std::isnan(v)) fail_bug("a sample is NaN");
  std::sort(sorted.begin(), sorted.end());
  Statistics s;
  s.samples = int(sorted.size());
  s.least = sorted.front();
  s.most = sorted.back();
  s.mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / double(sorted.size());
  s.p10 = percentile(sorted, 0.1);
  s.median = percentile(sorted, 0.5);
  s.p90 = percentile(sorted, 0.9);
  for (double& v : sorted) v = std::fabs(v - s.median);
  std::sort(sorted.begin(), sorted.end());
  s.mad = percentile(sorted, 0.5);
  return s;
}

}  // namespace ridge::measure
