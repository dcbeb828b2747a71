// What is said of a row of samples.
#pragma once
#include <span>

namespace ridge::measure {

struct Statistics {
  int samples = 0;
  double median = 0, p10 = 0, p90 = 0, least = 0, most = 0, mean = 0;
  double mad = 0;  // median of the distances to the median

  double spread() const {
    return median != 0 ? (p90 - p10) / median : 0;
  }  // of the median: 0.05 is quiet, 0.3 is noise
};

// Of at least one sample, none of them NaN (a bug otherwise). Percentiles interpolate between samples.
Statistics statistics(std::span<const double> samples);

}  // namespace ridge::measure
