#include "probe/sampling.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/interrupt.h"
#include "measure/statistics.h"
#include "measure/timer.h"

namespace ridge::probe {

Budget budget_for(double seconds, int points) {
  // A quarter goes to warming up and to points that are slow even at the fewest samples.
  return {.seconds = std::clamp(0.75 * seconds / std::max(points, 1), 0.005, 0.25)};
}

hw::Spread sample_rate(const Budget& budget, double amount, const std::function<void(std::int64_t rounds)>& run) {
  if (interrupted()) fail_input("interrupted while measuring ceilings; nothing was written");
  const measure::Timer first;
  run(1);  // also the warm-up
  std::int64_t rounds = 1;
  if (const double once = first.seconds(); once < budget.sample_s) {
    const measure::Timer again;
    run(1);
    rounds = std::int64_t(std::clamp(std::ceil(budget.sample_s / std::max(again.seconds(), 1e-8)), 1.0, 1e7));
  }
  std::vector<double> rates;
  const measure::Timer all;
  while (int(rates.size()) < budget.fewest || (int(rates.size()) < budget.samples && all.seconds() < budget.seconds)) {
    const measure::Timer one;
    run(rounds);
    rates.push_back(amount * double(rounds) / one.seconds());
  }
  const measure::Statistics s = measure::statistics(rates);
  return {s.median, s.p10, s.p90, s.most, s.samples};
}

}  // namespace ridge::probe
