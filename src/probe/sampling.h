// How the probe takes its samples: few and short in quick mode, and always several, since disturbances come in bursts.
#pragma once
#include <functional>

#include "hw/ceilings.h"

namespace ridge::probe {

struct Budget {
  int samples = 100;         // at most
  int fewest = 3;            // at least, whatever they take
  double seconds = 0.25;     // for one point
  double sample_s = 1.5e-3;  // what one sample should take at least
};

// What each of `points` may take so that all of them together take about `seconds`.
Budget budget_for(double seconds, int points);

// Calls `run(rounds)` until the budget is used up and returns `amount` of one round per second. Rounds are chosen so
// that a sample is long enough for the clock.
hw::Spread sample_rate(const Budget& budget, double amount, const std::function<void(std::int64_t rounds)>& run);

}  // namespace ridge::probe
