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

// How much is measured with one number of threads: `few` is what quick mode measures, and full mode with counts of
// threads between one and all.
enum class Points : std::uint8_t { few, all };

// Working sets to measure with `threads` threads, in bytes of all of them together, ascending: from the first-level
// caches to four last-level caches, but no more than `most`, nor than a thread reads in some tens of milliseconds.
std::vector<std::int64_t> working_sets(const hw::Cpu& cpu, int threads, Points points, std::int64_t most);

// Memory for the largest working set of all thread counts.
std::int64_t memory_needed(const hw::Cpu& cpu);

int count_points(int threads, Points points, std::int64_t memory_bytes);  // of bandwidth and rates together

// Call `point_done` after each point.
void measure_bandwidth(hw::Ceilings& out, WorkingMemory& memory, ThreadPool& pool, Points points, const Budget& budget,
                       const std::function<void()>& point_done);
void measure_rates(hw::Ceilings& out, ThreadPool& pool, Points points, const Budget& budget,
                   const std::function<void()>& point_done);
void measure_dispatch(hw::Ceilings& out, ThreadPool& pool);

}  // namespace ridge::probe
