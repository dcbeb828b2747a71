#include "hw/isa.h"

#include <fmt/ranges.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace ridge::hw {
namespace {

struct Row {
  std::string_view name;
  bool Isa::*field;
  std::vector<std::string_view> needs;  // goes when one of these goes
};

const std::vector<Row>& rows() {  // in an order in which `needs` only looks back
  static const std::vector<Row> table = {
      {"avx2", &Isa::avx2, {}},
      {"fma", &Isa::fma, {"avx2"}},
      {"f16c", &Isa::f16c, {"avx2"}},
      {"avx512", &Isa::avx512, {"avx2"}},
      {"vnni", &Isa::vnni, {"avx512"}},
      {"avx_vnni", &Isa::avx_vnni, {"avx2", "vnni by name"}},
      {"avx512_bf16", &Isa::avx512_bf16, {"avx512"}},
      {"avx512_fp16", &Isa::avx512_fp16, {"avx512"}},
      {"amx_int8", &Isa::amx_int8, {"avx512"}},
      {"amx_bf16", &Isa::amx_bf16, {"avx512"}},
  };
  return table;
}

#if defined(__x86_64__)
struct Registers {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

Registers cpuid(unsigned leaf, unsigned sub) {
  Registers r;
  if (!__get_cpuid_count(leaf, sub, &r.a, &r.b, &r.c, &r.d)) return {};
  return r;
}

constexpr bool bit(unsigned word, int n) { return (word >> n) & 1; }

std::uint64_t xcr0() {  // which register files the operating system saves
  unsigned low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (std::uint64_t(high) << 32) | low;
}

// AMX tiles must be asked for, once a process (Linux 5.16: ARCH_REQ_XCOMP_PERM of feature 18).
bool amx_granted() {
  constexpr int request_permission = 0x1023, tile_data = 18;
  return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

// Intel SDM volume 2, CPUID leaves 1 and 7; volume 1, 13.3 for XCR0.
Isa detect() {
  Isa isa;
  const Registers one = cpuid(1, 0), seven = cpuid(7, 0), seven_one = cpuid(7, 1);
  if (!bit(one.c, 27)) return isa;  // no OSXSAVE
  const std::uint64_t saved = xcr0();
  const bool ymm = (saved & 0x6) == 0x6, zmm = (saved & 0xe6) == 0xe6;
  const bool tiles = (saved & 0x60000) == 0x60000;
  const bool avx2 = ymm && bit(one.c, 28) && bit(seven.b, 5) && bit(seven.b, 8);
  isa.avx2 = isa.fma = isa.f16c = avx2 && bit(one.c, 12) && bit(one.c, 29);
  const bool all_512 = bit(seven.b, 16) && bit(seven.b, 17) && bit(seven.b, 28) && bit(seven.b, 30) && bit(seven.b, 31);
  isa.avx512 = zmm && isa.avx2 && all_512;
  isa.vnni = isa.avx512 && bit(seven.c, 11);
  isa.avx_vnni = isa.avx2 && bit(seven_one.a, 4);
  isa.avx512_bf16 = isa.avx512 && bit(seven_one.a, 5);
  isa.avx512_fp16 = isa.avx512 && bit(seven.d, 23);
  if (isa.avx512 && tiles && bit(seven.d, 24) && amx_granted()) {
    isa.amx_int8 = bit(seven.d, 25);
    isa.amx_bf16 = bit(seven.d, 22);
  }
  return isa;
}

std::int64_t highway_targets_forbidden(const Isa& isa) {
  std::int64_t off = 0;
  if (!isa.avx2) off |= HWY_SSSE3 | HWY_SSE4 | HWY_AVX2;
  if (!isa.avx512) off |= HWY_AVX3;
  if (!isa.vnni) off |= HWY_AVX3_DL;  // that target may use VNNI
  return off;
}
#else
Isa detect() { return {}; }
std::int64_t highway_targets_forbidden(const Isa&) { return 0; }  // ridge names no instruction sets there
#endif

struct State {
  Isa now;
  std::vector<std::string> forbidden;
};

// Commas and spaces part names.
State state_without(std::string_view names) {
  State state{native_isa(), {}};
  while (!names.empty()) {
    const std::size_t end = std::min(names.find_first_of(", "), names.size());
    if (end > 0) {
      state.now = without(state.now, names.substr(0, end));
      state.forbidden.emplace_back(names.substr(0, end));
    }
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return state;
}

void tell_highway(const State& state) {
  // What the processor lacks Highway finds out itself; tell it only what is forbidden on top.
  hwy::DisableTargets(state.forbidden.empty() ? 0 : highway_targets_forbidden(state.now));
}

State& state() {
  static State s = [] {
    const char* names = std::getenv("RIDGE_FORBID");
    State made = state_without(names ? names : "");
    tell_highway(made);
    return made;
  }();
  return s;
}

}  // namespace

std::span<const std::string_view> isa_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> list;
    for (const Row& row : rows()) list.push_back(row.name);
    return list;
  }();
  return names;
}

Isa without(Isa have, std::string_view name) {
  const auto known = isa_names();
  if (std::find(known.begin(), known.end(), name) == known.end())
    fail_input("cannot forbid instruction set \"{}\"; known are {}", name, fmt::join(known, ", "));
  std::vector<std::string_view> gone = {name};
  if (name == "fma" || name == "f16c") gone = {"avx2"};  // those three come and go together
  if (name == "vnni") gone.push_back("vnni by name");
  for (const Row& row : rows()) {
    const auto is_gone = [&](std::string_view n) { return std::find(gone.begin(), gone.end(), n) != gone.end(); };
    if (!is_gone(row.name) && std::none_of(row.needs.begin(), row.needs.end(), is_gone)) continue;
    have.*row.field = false;
    gone.push_back(row.name);
  }
  return have;
}

std::string Isa::text() const {
  std::string out;
  for (const Row& row : rows()) {
    if (!(this->*row.field)) continue;
    if (!out.empty()) out += ' ';
    out += row.name;
  }
  return out.empty() ? "scalar" : out;
}

const Isa& native_isa() {
  static const Isa found = detect();
  return found;
}

const Isa& isa() { return state().now; }
std::vector<std::string> forbidden() { return state().forbidden; }

void set_forbidden(std::string_view names) {
  state() = state_without(names);
  tell_highway(state());
}

void forbid(std::string_view name) {
  std::string all(name);
  for (const std::string& earlier : forbidden()) all += "," + earlier;
  set_forbidden(all);
}

}  // namespace ridge::hw
