#include "probe/probe.h"

#include <cstdlib>
#include <ctime>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/thread_pool.h"
#include "hw/cpu.h"
#include "measure/machine_state.h"
#include "measure/memory.h"
#include "measure/timer.h"
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

struct Plan {  // how much is measured with each number of threads
  std::map<int, Points> by_threads;
  int points = 0;
  Budget budget;
};

Plan plan(int threads, hw::Thoroughness thoroughness, std::int64_t memory_bytes) {
  const bool full = thoroughness == hw::Thoroughness::full;
  Plan p;
  if (full)
    for (int n = 2; n < threads; n *= 2) p.by_threads[n] = Points::few;
  p.by_threads[1] = p.by_threads[threads] = full ? Points::all : Points::few;
  for (const auto& [n, points] : p.by_threads) p.points += count_points(n, points, memory_bytes);
  p.budget = budget_for(full ? 25 : 1.6, p.points);
  return p;
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
  const Plan p = plan(threads, thoroughness, std::int64_t(memory.bytes().size()));
  std::optional<Progress> bar;
  if (thoroughness == hw::Thoroughness::full) bar.emplace("probing", p.points);
  const auto point_done = [&] {
    if (bar) bar->advance();
  };
  for (auto n = p.by_threads.rbegin(); n != p.by_threads.rend();
       ++n) {  // most first: they are the ones to touch the memory
    ThreadPool pool(n->first);
    if (n == p.by_threads.rbegin()) memory.fill(pool);
    measure_bandwidth(out, memory, pool, n->second, p.budget, point_done);
    measure_rates(out, pool, n->second, p.budget, point_done);
    measure_dispatch(out, pool);
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
