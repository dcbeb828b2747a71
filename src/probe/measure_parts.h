// The three parts of a probe, each filling its part of the record.
#pragma once
#include <functional>

#include "hw/ceilings.h"
#include "hw/cpu.h"
#include "probe/sampling.h"

namespace ridge {
class ThreadPool;
}

namespace ridge::probe {

class WorkingMemory;

// Working sets to measure with `threads` threads, in bytes of all of them together, ascending: from the first-level
// caches to four last-level caches, but no more than `most`.
std::vector<std::int64_t> working_sets(const hw::Cpu& cpu, int threads, hw::Thoroughness thoroughness,
                                       std::int64_t most);

// Memory for the largest working set of all thread counts.
std::int64_t memory_needed(const hw::Cpu& cpu);

void measure_bandwidth(hw::Ceilings& out, WorkingMemory& memory, ThreadPool& pool, hw::Thoroughness thoroughness,
                       const std::function<void()>& step_done);
void measure_rates(hw::Ceilings& out, ThreadPool& pool, hw::Thoroughness thoroughness,
                   const std::function<void()>& step_done);
void measure_dispatch(hw::Ceilings& out, ThreadPool& pool, hw::Thoroughness thoroughness);

}  // namespace ridge::probe
