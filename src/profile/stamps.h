// Times every call of repeated steps: an observer for the executor.
#pragma once
#include <cstdint>
#include <vector>

#include "measure/timer.h"
#include "program/executor.h"

namespace ridge::profile {

struct StepTimes {             // medians over the steps
  double step_s = 0;           // of the whole step as observed; its calls and what lies between them add up to it
  std::vector<double> call_s;  // by index in the program; scaled so that with the gaps they sum to step_s
  double stamp_s = 0;          // what two stamps cost: taken off each call
};

class Stamps final : public program::Observer {
 public:
  explicit Stamps(std::size_t calls);
  void begin_step();
  void end_step();
  void before(std::size_t call_index) override;
  void after(std::size_t call_index) override;
  StepTimes medians() const;

 private:
  std::size_t calls_;
  measure::Timer clock_;
  double step_begin_ = 0, call_begin_ = 0;
  std::vector<double> step_s_;
  std::vector<std::vector<double>> call_s_;  // by call, one entry a step
};

}  // namespace ridge::profile
