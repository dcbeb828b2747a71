// A program's costs, taken once, and what any step of it costs on a machine.
#pragma once
#include <span>
#include <vector>

#include "ir/op_info.h"
#include "roof/price.h"

namespace ridge::roof {

class PricedProgram {
 public:
  // `rules`: of the model that the program is of.
  PricedProgram(const ir::Program& program, const ir::StepRules& rules, std::int64_t arena_bytes);

  // What the step reads from memory: weights and state. Its ceiling is that of a working set of this size.
  double step_bytes(const ir::Step& step) const { return (total_.weight_bytes + total_.state_bytes).at(step); }
  Machine machine_for(const ir::Step& step, const hw::Ceilings& ceilings, int threads) const;

  ir::Step step(std::span<const ir::Span> spans, std::int64_t rows) const { return ir::Step::of(spans, rows, rules_); }
  std::vector<Price> calls(const ir::Step& step, const Machine& machine) const;  // in the program's order
  Price sum(const ir::Step& step, const Machine& machine) const;

 private:
  std::vector<ir::Cost> costs_;
  ir::Cost total_;
  ir::StepRules rules_;
  std::int64_t arena_bytes_;
};

}  // namespace ridge::roof
