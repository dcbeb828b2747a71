#include "roof/priced_program.h"

namespace ridge::roof {

PricedProgram::PricedProgram(const ir::Program& program, const ir::StepRules& rules, std::int64_t arena_bytes)
    : rules_(rules), arena_bytes_(arena_bytes) {
  for (const ir::Call& c : program.calls()) {
    costs_.push_back(c.op->cost(program, c));
    total_ += costs_.back();
  }
}

Machine PricedProgram::machine_for(const ir::Step& step, const hw::Ceilings& ceilings, int threads) const {
  return machine(ceilings, threads, std::int64_t(step_bytes(step)), arena_bytes_);
}

std::vector<Price> PricedProgram::calls(const ir::Step& step, const Machine& machine) const {
  std::vector<Price> prices;
  for (const ir::Cost& c : costs_) prices.push_back(price(c, step, machine));
  return prices;
}

Price PricedProgram::sum(const ir::Step& step, const Machine& machine) const {
  Total total;
  for (const ir::Cost& c : costs_) total.add(price(c, step, machine));
  return total.sum();
}

}  // namespace ridge::roof
