#include "roof/price.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "base/format.h"

namespace ridge::roof {
namespace {

double required(std::optional<double> ceiling, std::string_view what, const hw::Ceilings& c) {
  if (!ceiling || *ceiling <= 0)
    fail_machine("no ceiling of {} is known for {}; 'ridge probe' measures this machine's", what, c.device);
  return *ceiling;
}

}  // namespace

std::string_view name(Limiter limiter) {
  static constexpr std::string_view names[] = {"memory", "cache", "compute", "overhead"};
  return names[int(limiter)];
}

Machine machine(const hw::Ceilings& c, int threads, std::int64_t step_bytes, std::int64_t activation_bytes) {
  using hw::Arithmetic;
  using hw::Traffic;
  Machine m;
  m.read = required(c.bytes_per_s(Traffic::read, threads, step_bytes), "read bandwidth", c);
  m.cache_copy = required(c.bytes_per_s(Traffic::copy, threads, activation_bytes), "copy bandwidth", c);
  const double f32 = required(c.ops_per_s(Arithmetic::f32, threads), "f32 arithmetic", c);
  // Narrower operands can be widened: where the narrow instruction is missing or slow, float32 does them.
  const auto rate = [&](Arithmetic kind) { return std::max(c.ops_per_s(kind, threads).value_or(f32), f32); };
  m.ops[int(ir::Unit::f32)] = f32;
  m.ops[int(ir::Unit::bf16)] = rate(Arithmetic::bf16);
  m.ops[int(ir::Unit::f16)] = rate(Arithmetic::f16);
  m.ops[int(ir::Unit::f8)] = rate(Arithmetic::f8);
  m.ops[int(ir::Unit::int8)] = rate(Arithmetic::int8);
  m.dispatch = c.dispatch_s(threads).value_or(0);
  return m;
}

Price price(const ir::Cost& cost, const ir::Step& step, const Machine& m) {
  Price p;
  p.flops = cost.flops.at(step);
  p.unit = cost.unit;
  p.memory_bytes = cost.weight_bytes.at(step) + cost.state_bytes.at(step);
  p.activation_bytes = cost.read_bytes.at(step) + cost.write_bytes.at(step);
  const double memory = p.memory_bytes / m.read;
  const double cache = p.activation_bytes / m.cache_copy;
  const double compute = p.flops / m.ops[int(cost.unit)];
  p.bound = std::max({memory, cache, compute});
  p.limiter = p.bound == memory ? Limiter::memory : p.bound == compute ? Limiter::compute : Limiter::cache;
  const Efficiency& reached = m.efficiency;
  const double work = std::max({memory / reached.memory, cache / reached.cache, compute / reached.compute});
  p.estimate = work + m.dispatch;
  if (m.dispatch > work) p.limiter = Limiter::overhead;
  p.low = std::max(p.bound, p.estimate * reached.low);
  p.high = p.estimate * reached.high;
  return p;
}

std::string limiter_text(const Price& p, const Machine& m) {
  static constexpr std::string_view units[] = {"f32", "bf16", "f16", "f8", "int8"};
  switch (p.limiter) {
    case Limiter::memory: return "memory read " + format_quantity(m.read, Unit::bytes_per_s);
    case Limiter::cache: return "activations " + format_quantity(m.cache_copy, Unit::bytes_per_s);
    case Limiter::compute: {
      const Unit unit = p.unit == ir::Unit::int8 ? Unit::op_per_s : Unit::flop_per_s;
      return fmt::format("compute {} {}", units[int(p.unit)], format_quantity(m.ops[int(p.unit)], unit));
    }
    case Limiter::overhead: return fmt::format("overhead of {} a call", format_seconds(m.dispatch));
  }
  fail_bug("limiter {}", int(p.limiter));
}

Price price_alone(const ir::Cost& cost, const ir::Step& step, const hw::Ceilings& ceilings, int threads) {
  constexpr std::int64_t beyond_caches = std::int64_t(1) << 40;
  return price(cost, step, machine(ceilings, threads, beyond_caches, beyond_caches));
}

void Total::add(const Price& p) {
  total_.bound += p.bound, total_.estimate += p.estimate, total_.low += p.low, total_.high += p.high;
  total_.flops += p.flops, total_.memory_bytes += p.memory_bytes, total_.activation_bytes += p.activation_bytes;
  by_limiter_[int(p.limiter)] += p.estimate;
  by_unit_[int(p.unit)] += p.estimate;
}

Price Total::sum() const {
  Price p = total_;
  p.limiter = Limiter(std::max_element(std::begin(by_limiter_), std::end(by_limiter_)) - std::begin(by_limiter_));
  p.unit = ir::Unit(std::max_element(std::begin(by_unit_), std::end(by_unit_)) - std::begin(by_unit_));
  return p;
}

}  // namespace ridge::roof
