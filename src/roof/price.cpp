#include "roof/price.h"

#include <algorithm>

#include "base/error.h"
#include "roof/convention.h"

namespace ridge::roof {
namespace {

double required(std::optional<double> ceiling, std::string_view what, const hw::Ceilings& c) {
  if (!ceiling || *ceiling <= 0) fail_machine("no ceiling of {} is known for {}; 'ridge probe' measures this machine's", what, c.device);
  return *ceiling;
}

// Bytes over bandwidth: what is read and written in equal parts goes at the copy's rate, the rest at its own.
double traffic_seconds(double read, double written, double read_rate, double write_rate, double copy_rate) {
  const double both = std::min(read, written);
  return 2 * both / copy_rate + (read - both) / read_rate + (written - both) / write_rate;
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
  m.copy = required(c.bytes_per_s(Traffic::copy, threads, step_bytes), "copy bandwidth", c);
  m.write = c.bytes_per_s(Traffic::write, threads, step_bytes).value_or(m.copy);
  m.cache_copy = c.bytes_per_s(Traffic::copy, threads, activation_bytes).value_or(m.copy);
  const double f32 = required(c.ops_per_s(Arithmetic::f32, threads), "f32 arithmetic", c);
  auto rate = [&](Arithmetic kind) { return c.ops_per_s(kind, threads).value_or(f32); };
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
  p.memory_bytes = cost.weight_bytes.at(step) + cost.state_bytes.at(step);
  const double read = cost.read_bytes.at(step), written = cost.write_bytes.at(step);
  p.activation_bytes = read + written;
  const double memory = p.memory_bytes / m.read;
  const double cache = traffic_seconds(read, written, m.cache_copy, m.cache_copy, m.cache_copy);
  const double compute = p.flops / m.ops[int(cost.unit)];
  p.bound = std::max({memory, cache, compute});
  p.limiter = p.bound == memory ? Limiter::memory : p.bound == compute ? Limiter::compute : Limiter::cache;
  const double work = std::max({memory / efficiency.memory, cache / efficiency.cache, compute / efficiency.compute});
  p.estimate = work + m.dispatch;
  if (m.dispatch > work) p.limiter = Limiter::overhead;
  p.low = std::max(p.bound, p.estimate * efficiency.low);
  p.high = p.estimate * efficiency.high;
  return p;
}

void Total::add(const Price& p) {
  total_.bound += p.bound, total_.estimate += p.estimate, total_.low += p.low, total_.high += p.high;
  total_.flops += p.flops, total_.memory_bytes += p.memory_bytes, total_.activation_bytes += p.activation_bytes;
  by_limiter_[int(p.limiter)] += p.estimate;
}

Price Total::sum() const {
  Price p = total_;
  p.limiter = Limiter(std::max_element(by_limiter_, by_limiter_ + 4) - by_limiter_);
  return p;
}

}  // namespace ridge::roof
