#include "hw/ceilings.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/error.h"
#include "hw/cpu.h"

namespace ridge::hw {
namespace {

// f(x) through points sorted by x; the nearest outside them.
std::optional<double> interpolate(const std::map<double, double>& points, double x) {
  if (points.empty()) return std::nullopt;
  const auto above = points.lower_bound(x);
  if (above == points.end()) return points.rbegin()->second;
  if (above == points.begin() || above->first == x) return above->second;
  const auto below = std::prev(above);
  const double t = (x - below->first) / (above->first - below->first);
  return below->second + t * (above->second - below->second);
}

}  // namespace

std::string_view name(Traffic traffic) {
  switch (traffic) {
    case Traffic::read: return "read";
    case Traffic::write: return "write";
    case Traffic::copy: return "copy";
    case Traffic::triad: return "triad";
  }
  fail_bug("traffic {}", int(traffic));
}

std::string_view name(Arithmetic kind) {
  static constexpr std::string_view names[] = {"f32", "f64", "int8", "bf16", "f16", "tf32", "f8", "f4"};
  return names[int(kind)];
}

std::optional<double> Ceilings::bytes_per_s(Traffic traffic, int threads, std::int64_t working_set_bytes) const {
  const double size = std::log2(double(std::max<std::int64_t>(working_set_bytes, 1)));
  std::map<int, std::map<double, double>> by_threads;
  for (const BandwidthPoint& p : bandwidth)
    if (p.traffic == traffic) by_threads[p.threads][std::log2(double(p.working_set_bytes))] = p.bytes_per_s.best;
  std::map<double, double> points;
  for (const auto& [count, sizes] : by_threads) points[count] = *interpolate(sizes, size);
  return interpolate(points, threads);
}

std::optional<double> Ceilings::ops_per_s(Arithmetic kind, int threads) const {
  std::map<double, double> points;
  for (const RatePoint& p : rates)
    if (p.kind == kind) points[p.threads] = std::max(points[p.threads], p.ops_per_s.best);
  return interpolate(points, threads);
}

std::optional<double> Ceilings::dispatch_s(int threads) const {
  std::map<double, double> points;
  for (const DispatchPoint& p : dispatch) points[p.threads] = p.seconds.median;
  return interpolate(points, threads);
}

Ceilings ceilings_of(const GpuSpec& spec) {
  Ceilings c;
  c.source = Source::datasheet;
  c.device = spec.name;
  c.key = std::string("datasheet / ") + std::string(spec.name);
  const auto said = [](double v) { return Spread{v, v, v, v, 0}; };
  for (Traffic t : {Traffic::read, Traffic::write, Traffic::copy})
    c.bandwidth.push_back({t, 1, spec.memory_bytes(), said(spec.memory_bytes_per_s)});
  const auto rate = [&](Arithmetic kind, std::optional<double> peak) {
    if (peak) c.rates.push_back({kind, 1, "datasheet", said(*peak)});
  };
  rate(Arithmetic::f32, spec.fp32), rate(Arithmetic::tf32, spec.tf32), rate(Arithmetic::bf16, spec.bf16);
  rate(Arithmetic::f16, spec.f16), rate(Arithmetic::f8, spec.fp8), rate(Arithmetic::int8, spec.int8);
  rate(Arithmetic::f4, spec.fp4);
  return c;
}

Ceilings better_of(const Ceilings& newer, const Ceilings& older) {
  Ceilings c = newer;
  const auto add = [](auto& points, const auto& others, auto same, auto is_better) {
    for (const auto& other : others) {
      const auto mine = std::find_if(points.begin(), points.end(), [&](const auto& p) { return same(p, other); });
      if (mine == points.end()) points.push_back(other);
      else if (is_better(other, *mine)) *mine = other;
    }
  };
  using B = BandwidthPoint;
  const auto same_set = [](const B& a, const B& b) {
    return std::tie(a.traffic, a.threads, a.working_set_bytes) == std::tie(b.traffic, b.threads, b.working_set_bytes);
  };
  add(c.bandwidth, older.bandwidth, same_set,
      [](const B& a, const B& b) { return a.bytes_per_s.best > b.bytes_per_s.best; });
  using R = RatePoint;
  const auto same_rate = [](const R& a, const R& b) {
    return std::tie(a.kind, a.threads, a.instruction) == std::tie(b.kind, b.threads, b.instruction);
  };
  add(c.rates, older.rates, same_rate, [](const R& a, const R& b) { return a.ops_per_s.best > b.ops_per_s.best; });
  using D = DispatchPoint;
  add(
      c.dispatch, older.dispatch, [](const D& a, const D& b) { return a.threads == b.threads; },
      [](const D& a, const D& b) { return a.seconds.median < b.seconds.median; });
  return c;
}

std::string machine_key() {
  const Cpu& c = cpu();
  std::string caches;
  for (const Cache& cache : c.caches)
    if (cache.type != "Instruction")
      caches += fmt::format(" L{} {}x{}K", cache.level, cache.instances, cache.bytes >> 10);
  const std::string quota = c.quota_cpus ? fmt::format("{:.2f}", *c.quota_cpus) : "none";
  return fmt::format("{} / {} cpus on {} cores of {} sockets / quota {} /{} / {} MiB / {}", c.model, c.allowed.size(),
                     c.physical_cores, c.sockets, quota, caches, c.memory_bytes >> 20, isa().text());
}

}  // namespace ridge::hw
