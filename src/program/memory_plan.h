// Where every value lives: one arena, offsets by liveness, in-place reuse. The plan is the only place that counts
// bytes; whatever wants to know them (run's prediction, inspect, the planner) reads it.
#pragma once
#include <cstdint>
#include <vector>

#include "ir/op_info.h"

namespace ridge::program {

enum class Reuse : std::uint8_t { in_place, none };  // none: every intermediate its own place, to compare with

struct MemoryPlan {
  std::vector<std::int64_t> offset;  // by value id, in its region; -1: not in a region (weights)
  std::int64_t arena_bytes = 0;      // intermediates and outputs
  std::int64_t input_bytes = 0;      // inputs, host-written
  std::int64_t state_bytes = 0;      // first versions of states
  std::int64_t scratch_bytes = 0;    // the largest scratch of a chosen kernel
};

// Bytes of a value when the symbols are bound to `sizes`.
std::int64_t value_bytes(const ir::ValueInfo& v, const Sizes& sizes);

MemoryPlan plan_memory(const ir::Program& p, const Sizes& most, std::int64_t scratch_bytes,
                       Reuse reuse = Reuse::in_place);

}  // namespace ridge::program
