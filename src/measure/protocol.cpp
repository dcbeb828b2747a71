#include "measure/protocol.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/error.h"
#include "base/interrupt.h"
#include "hw/cpu.h"
#include "measure/machine_state.h"
#include "measure/timer.h"

namespace ridge::measure {
namespace {

constexpr std::int64_t most_flush_bytes = std::int64_t(1) << 30;
constexpr int fewest_samples = 3;

std::int64_t cold_bytes() {  // data this large does not stay in a cache
  const std::int64_t cache = hw::cpu().last_level_cache_bytes();
  return 3 * (cache > 0 ? cache : std::int64_t(32) << 20);
}

struct Running {  // a case between two samples
  const Case& c;
  Result result;
  std::vector<double> samples;
  int next_input = 0;
  double spent_s = 0;
  double clock_before = 0;

  void once() {
    c.run(next_input);
    next_input = (next_input + 1) % c.inputs;
  }
};

// Also finds how many runs make a sample: cold data that is flushed before each sample allows only one.
void warm_up(Running& r, const Protocol& protocol) {
  const Timer all;
  double fastest = 1e30;
  do {
    const Timer one;
    r.once();
    fastest = std::min(fastest, one.seconds());
  } while (all.seconds() < protocol.warm_up_s);
  if (!r.result.flushed)
    r.result.runs_per_sample = int(std::clamp(std::ceil(protocol.least_sample_s / std::max(fastest, 1e-9)), 1.0, 1e6));
  r.clock_before = clock_hertz();
}

void sample(Running& r) {
  if (r.result.flushed) flush_caches();
  const Timer timer;
  for (int i = 0; i < r.result.runs_per_sample; ++i) r.once();
  const double seconds = timer.seconds();
  r.spent_s += seconds;
  r.result.runs += r.result.runs_per_sample;
  r.samples.push_back(seconds / r.result.runs_per_sample);
}

bool finished(const Running& r, const Protocol& protocol) {
  const int samples = int(r.samples.size());
  if (interrupted() && samples > 0) return true;
  return samples >= protocol.samples || (samples >= fewest_samples && r.spent_s >= protocol.time_bound_s);
}

Result finish(Running& r) {
  r.result.seconds = statistics(r.samples);
  r.result.clock_hertz = clock_hertz();
  r.result.clock_drift = std::fabs(r.result.clock_hertz / r.clock_before - 1);
  return std::move(r.result);
}

Running begin(const Case& c) {
  if (c.inputs < 1 || !c.run) fail_bug("measuring {}: {} inputs", c.name, c.inputs);
  Running r{c, {}, {}};
  r.result.name = c.name;
  r.result.flushed = c.heat == Heat::cold && c.inputs < inputs_needed(c.working_set_bytes, Heat::cold);
  return r;
}

}  // namespace

int inputs_needed(std::int64_t working_set_bytes, Heat heat) {
  if (heat == Heat::warm) return 1;
  const std::int64_t each = std::max<std::int64_t>(working_set_bytes, 64);
  return int(std::min<std::int64_t>((cold_bytes() + each - 1) / each, 1 << 20));
}

std::vector<Result> run_alternating(std::span<const Case> cases, const Protocol& protocol) {
  std::vector<Running> all;
  for (const Case& c : cases) all.push_back(begin(c));
  for (Running& r : all) {
    stop_if_interrupted("measuring");
    warm_up(r, protocol);
  }
  for (bool more = true; more;) {
    more = false;
    for (Running& r : all) {
      stop_if_interrupted("measuring");
      if (finished(r, protocol)) continue;
      sample(r);
      more = true;
    }
  }
  std::vector<Result> results;
  for (Running& r : all) results.push_back(finish(r));
  return results;
}

Result run(const Case& c, const Protocol& protocol) { return run_alternating({&c, 1}, protocol)[0]; }

void flush_caches() {
  static const std::int64_t bytes = std::min(cold_bytes(), most_flush_bytes);
  static const std::unique_ptr<unsigned char[]> buffer(new unsigned char[std::size_t(bytes)]());
  volatile unsigned char* memory = buffer.get();
  for (std::int64_t i = 0; i < bytes; i += 64) memory[i] = (unsigned char)(memory[i] + 1);
}

}  // namespace ridge::measure
