#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "hw/cpu.h"
#include "probe/probe.h"

namespace ridge::probe {
namespace {

using hw::Arithmetic, hw::Traffic;

int most_threads(const hw::Ceilings& c) {
  int most = 1;
  for (const hw::BandwidthPoint& p : c.bandwidth) most = std::max(most, p.threads);
  return most;
}

// Where a working set that no cache holds is read from.
constexpr std::int64_t beyond_caches = std::int64_t(1) << 50;

std::string threads_text(int n) { return n == 1 ? "1 thread" : fmt::format("{} threads", n); }

void say_memory(const hw::Ceilings& c, std::vector<std::string>& out) {
  const int all = most_threads(c);
  const auto one = c.read_bytes_per_s(1, beyond_caches), many = c.read_bytes_per_s(all, beyond_caches);
  if (!one || !many) return;
  const std::string rate = format_quantity(*many, Unit::bytes_per_s);
  if (all == 1) out.push_back(fmt::format("Memory: one thread reads {}.", rate));
  else if (*many < *one * 1.15)
    out.push_back(fmt::format("Memory: one thread reads all there is, {}; more threads do not speed up decode.", rate));
  else
    out.push_back(fmt::format("Memory: {} read {}, {} of one: decode gains from all of them.", threads_text(all), rate,
                              format_quantity(*many / *one, Unit::ratio)));
  const auto cached = c.read_bytes_per_s(all, hw::cpu().last_level_cache_bytes() / 2);
  if (cached && *cached > *many * 1.2)
    out.push_back(
        fmt::format("The last-level cache ({}) reads {}, {} of memory: a smaller model is bound by it instead.",
                    format_bytes(double(hw::cpu().last_level_cache_bytes())),
                    format_quantity(*cached, Unit::bytes_per_s), format_quantity(*cached / *many, Unit::ratio)));
}

// A weight of Q4_1 is 0.625 bytes and takes 2 operations for each token that is multiplied with it.
void say_ridge_point(const hw::Ceilings& c, std::vector<std::string>& out) {
  const int all = most_threads(c);
  const auto read = c.read_bytes_per_s(all, beyond_caches), int8 = c.ops_per_s(Arithmetic::int8, all);
  if (!read || !int8) return;
  const double ridge = *int8 / *read, per_token = 2 / 0.625;
  out.push_back(fmt::format(
      "Ridge point: {} of int8 over {} is {} operations a byte. Weights of 4 bits do {} a byte for each token at once: "
      "below "
      "about {} tokens memory is the bound, above it arithmetic.",
      format_quantity(*int8, Unit::op_per_s), format_quantity(*read, Unit::bytes_per_s), format_significant(ridge),
      format_significant(per_token, 2), format_count(std::max<std::int64_t>(std::llround(ridge / per_token), 1))));
}

void say_arithmetic(const hw::Ceilings& c, std::vector<std::string>& out) {
  const int all = most_threads(c);
  const auto f32 = c.ops_per_s(Arithmetic::f32, all), int8 = c.ops_per_s(Arithmetic::int8, all);
  const auto f32_one = c.ops_per_s(Arithmetic::f32, 1);
  if (f32 && int8)
    out.push_back(fmt::format("int8 products run at {} of f32's rate.", format_quantity(*int8 / *f32, Unit::ratio)));
  if (f32 && f32_one && all > 1 && *f32 < *f32_one * all * 0.7)
    out.push_back(fmt::format(
        "{} multiply only {} as fast as one: they share cores, a quota, a lower clock, or other work is in the way.",
        threads_text(all), format_quantity(*f32 / *f32_one, Unit::ratio)));
}

void say_conditions(const hw::Ceilings& c, std::vector<std::string>& out) {
  const double others = c.taken_by_others.value_or(0);
  if (others > 0.1)
    out.push_back(fmt::format(
        "Other work took {} of the processors meanwhile: these ceilings may be too low. Probe a quiet machine.",
        format_quantity(others, Unit::fraction)));
  const hw::Cpu& cpu = hw::cpu();
  if (cpu.quota_cpus && *cpu.quota_cpus < double(most_threads(c)))
    out.push_back(
        fmt::format("The control group grants {} processors to {}: long runs will be throttled below short samples.",
                    format_significant(*cpu.quota_cpus), threads_text(most_threads(c))));
  if (hw::isa().amx_int8 || hw::isa().amx_bf16)
    out.emplace_back("This processor has AMX, which no kernel of ridge uses: the ceilings are those of its vectors.");
  if (!hw::forbidden().empty())
    out.push_back(fmt::format("Instruction sets are forbidden: what is left is {}.", hw::isa().text()));
}

}  // namespace

std::vector<std::string> verdicts(const hw::Ceilings& ceilings) {
  std::vector<std::string> out;
  say_memory(ceilings, out);
  say_ridge_point(ceilings, out);
  say_arithmetic(ceilings, out);
  say_conditions(ceilings, out);
  return out;
}

}  // namespace ridge::probe
