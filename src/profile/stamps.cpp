#include "profile/stamps.h"

#include <algorithm>

#include "measure/statistics.h"

namespace ridge::profile {
namespace {

double cost_of_two_stamps() {
  const measure::Timer clock;
  double sum = 0;
  constexpr int tries = 1000;
  for (int i = 0; i < tries; ++i) {
    const double a = clock.seconds();
    sum += clock.seconds() - a;
  }
  return sum / tries;
}

}  // namespace

Stamps::Stamps(std::size_t calls) : calls_(calls), call_s_(calls) {}

void Stamps::begin_step() { step_begin_ = clock_.seconds(); }
void Stamps::end_step() { step_s_.push_back(clock_.seconds() - step_begin_); }
void Stamps::before(std::size_t) { call_begin_ = clock_.seconds(); }
void Stamps::after(std::size_t call_index) { call_s_[call_index].push_back(clock_.seconds() - call_begin_); }

StepTimes Stamps::medians() const {
  StepTimes times{.step_s = measure::statistics(step_s_).median, .stamp_s = cost_of_two_stamps()};
  double sum = 0;
  for (std::size_t i = 0; i < calls_; ++i) {
    times.call_s.push_back(std::max(0.0, measure::statistics(call_s_[i]).median - times.stamp_s));
    sum += times.call_s.back();
  }
  // Medians of calls need not add up to the median of steps where the machine is disturbed: the calls never claim more
  // than the step.
  if (sum > times.step_s)
    for (double& s : times.call_s) s *= times.step_s / sum;
  return times;
}

}  // namespace ridge::profile
