// What a call, or a whole step, costs at least on a machine, and what it is expected to take.
#pragma once
#include <string>
#include <string_view>

#include "hw/ceilings.h"
#include "ir/cost.h"
#include "roof/convention.h"

namespace ridge::roof {

enum class Limiter : std::uint8_t {
  memory,    // reading weights and state
  cache,     // moving activations
  compute,   // arithmetic
  overhead,  // handing the work out costs more than doing it; never the limiter of a bound, only of an estimate
};
std::string_view name(Limiter limiter);

// A machine as prices see it: its ceilings for a number of threads and for the sizes that a step works on.
struct Machine {
  double read = 0;        // bytes/s, of the step's weights and state together
  double cache_copy = 0;  // bytes/s read and written, where the step's activations live
  double ops[5] = {};     // operations/s by ir::Unit
  double dispatch = 0;    // seconds a call costs whatever it does; 0 where nobody measured it
  Efficiency efficiency;  // of the estimate; a verb that has measured better ones puts them here
};

// `step_bytes`: weights and state that one step reads; where a cache holds them, its bandwidth bounds.
// `activation_bytes`: the arena. A unit without a ceiling of its own, or with a lower one, gets that of f32. Fails
// (machine) where the ceilings lack what is needed.
Machine machine(const hw::Ceilings& ceilings, int threads, std::int64_t step_bytes, std::int64_t activation_bytes);

struct Price {
  double bound =
      0;  // seconds: no implementation of these calls takes less. The largest of memory, cache and compute time
  Limiter limiter = Limiter::memory;
  ir::Unit unit = ir::Unit::f32;  // of the arithmetic
  double estimate = 0;       // seconds: bound over the efficiency that kernels reach, plus the fixed cost of the call
  double low = 0, high = 0;  // where measurements are expected to lie; low is never below the bound
  double flops = 0, memory_bytes = 0, activation_bytes = 0;

  double intensity() const {  // FLOP/byte
    return memory_bytes + activation_bytes > 0 ? flops / (memory_bytes + activation_bytes) : 0;
  }
};

Price price(const ir::Cost& cost, const ir::Step& step, const Machine& machine);

// "memory read 24.1 GB/s", "compute int8 1.08 TOP/s": the limiter and the ceiling that it is.
std::string limiter_text(const Price& price, const Machine& machine);

// A call by itself whose inputs all come from memory, as `bench` runs its cases.
Price price_alone(const ir::Cost& cost, const ir::Step& step, const hw::Ceilings& ceilings, int threads);

// The sum of a step's calls: bounds, estimates and intervals add up; limiter and unit are those of most of the time.
class Total {
 public:
  void add(const Price& price);
  Price sum() const;

 private:
  Price total_;
  double by_limiter_[4] = {};
  double by_unit_[5] = {};
};

}  // namespace ridge::roof
