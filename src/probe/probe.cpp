#include "probe/probe.h"

#include <cstdlib>
#include <ctime>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/thread_pool.h"
#include "hw/cpu.h"
#include "measure/machine_state.h"
#include "measure/memory.h"
#include "measure/timer.h"
#include "probe/kernels.h"
#include "probe/measure_parts.h"
#include "probe/working_memory.h"

namespace ridge::probe {
namespace {

bool was_disturbed(const hw::Ceilings& c) { return c.taken_by_others.value_or(0) > 0.1; }

// Whether measuring again promises more than a disturbed record has: the load of the last minute leaves room.
bool machine_is_quiet() {
  double load = 0;
  return getloadavg(&load, 1) == 1 && load < 0.3 * double(hw::cpu().allowed.size());
}

std::set<int> thread_counts(int threads, hw::Thoroughness thoroughness) {
  std::set<int> counts = {1, threads};
  if (thoroughness == hw::Thoroughness::full)
    for (int n = 2; n < threads; n *= 2) counts.insert(n);
  return counts;
}

int steps(const std::set<int>& counts, hw::Thoroughness thoroughness, std::int64_t memory_bytes) {
  std::size_t all = counts.size() * rate_kernels().size();
  for (int n : counts) all += working_sets(hw::cpu(), n, thoroughness, memory_bytes).size();
  return int(all);
}

}  // namespace

hw::Ceilings measure_ceilings(int threads, hw::Thoroughness thoroughness) {
  hw::Ceilings out;
  out.thoroughness = thoroughness;
  out.device = hw::cpu().model;
  out.key = hw::machine_key();
  out.ridge_version = RIDGE_VERSION;
  out.measured_at_s = std::int64_t(std::time(nullptr));
  const measure::LoadMark begin = measure::load_mark();
  WorkingMemory memory(memory_needed(hw::cpu()));
  const std::set<int> counts = thread_counts(threads, thoroughness);
  std::optional<Progress> bar;
  if (thoroughness == hw::Thoroughness::full)
    bar.emplace("probing", steps(counts, thoroughness, std::int64_t(memory.bytes().size())));
  const auto step_done = [&] {
    if (bar) bar->advance();
  };
  for (auto n = counts.rbegin(); n != counts.rend();
       ++n) {  // most threads first: they are the ones to touch the memory
    ThreadPool pool(*n);
    if (n == counts.rbegin()) memory.fill(pool);
    measure_bandwidth(out, memory, pool, thoroughness, step_done);
    measure_rates(out, pool, thoroughness, step_done);
    measure_dispatch(out, pool, thoroughness);
  }
  out.clock_hertz = measure::clock_hertz();
  out.taken_by_others = measure::taken_by_others(begin, measure::load_mark());
  return out;
}

hw::Ceilings ensure_ceilings(int threads) {
  const auto file = hw::ceilings_path();
  const auto known = hw::load_ceilings(file, hw::machine_key());
  if (known && !(was_disturbed(*known) && machine_is_quiet())) return *known;
  log_info("{} of this machine in {}: measuring them (2 s; `ridge probe` is more thorough)",
           known ? "only disturbed ceilings" : "no ceilings", file.string());
  hw::Ceilings measured = measure_ceilings(threads, hw::Thoroughness::quick);
  measure::reset_peak_memory();
  if (known) measured = hw::better_of(measured, *known);
  if (was_disturbed(measured))
    log_warning(
        "other work took {} of the processors meanwhile: the ceilings may be too low; `ridge probe` measures again",
        format_quantity(*measured.taken_by_others, Unit::fraction));
  try {
    hw::save_ceilings(file, measured);
  } catch (const Error& e) {
    log_warning("the ceilings are not kept: {}", e.what());
  }
  return measured;
}

}  // namespace ridge::probe
