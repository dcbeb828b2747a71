// How everything in ridge is timed on the host (DESIGN §6): warm-up, rotating inputs so that caches do not flatter, at
// least 30 samples or a bounded time, median and spread. Peers are run in the same breath, sample by sample.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "measure/statistics.h"

namespace ridge::measure {

enum class Heat : std::uint8_t {
  cold,  // each sample finds its input in memory, not in a cache
  warm,  // the case is about data that a cache holds
};

struct Case {
  std::string name;
  std::function<void(int input)> run;  // once, on input number `input`; must have finished when it returns
  int inputs = 1;                      // how many different inputs there are: make inputs_needed() of them
  std::int64_t working_set_bytes = 0;  // that one run touches
  Heat heat = Heat::cold;
};

struct Protocol {
  int samples = 30;               // at least, unless the time bound comes first (then at least 3)
  double warm_up_s = 0.02;        // at least one run
  double time_bound_s = 2.0;      // for each case
  double least_sample_s = 20e-6;  // a sample of a shorter run is several runs: the clock costs 25 ns
};

struct Result {
  std::string name;
  Statistics seconds;     // of one run
  std::int64_t runs = 0;  // altogether, warm-up not counted
  int runs_per_sample = 1;
  bool flushed = false;    // caches were emptied before each sample, since the inputs did not exceed them
  double clock_hertz = 0;  // after the samples
  double clock_drift = 0;  // |after / before - 1|; above 0.05 the clock did not stand still
};

// Inputs to rotate through so that together they are three times the last-level cache: 1 or more.
int inputs_needed(std::int64_t working_set_bytes, Heat heat);

Result run(const Case& c, const Protocol& protocol = {});
std::vector<Result> run_alternating(std::span<const Case> cases, const Protocol& protocol = {});

// Empties the caches: reads and writes three times the last-level cache (at most 1 GiB).
void flush_caches();

}  // namespace ridge::measure
