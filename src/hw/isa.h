// The instruction sets that kernels may use: what the processor and the operating system have, minus what the user
// forbids.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ridge::hw {

struct Isa {
  bool avx2 = false;  // with AVX, BMI2, FMA and F16C: they come and go together
  bool fma = false;
  bool f16c = false;
  bool avx512 = false;    // F, BW, DQ, VL and CD together
  bool vnni = false;      // AVX-512 VNNI: 512-bit int8 dot products
  bool avx_vnni = false;  // the same in 256 bits without AVX-512
  bool avx512_bf16 = false;
  bool avx512_fp16 = false;
  bool amx_int8 = false;
  bool amx_bf16 = false;

  bool operator==(const Isa&) const = default;
  std::string text() const;  // "avx2 fma f16c avx512 vnni"; "scalar" where there is nothing
};

// Fixed at the first call, which reads RIDGE_FORBID ("avx512,vnni"); changed only by forbid(). main() calls it before
// any kernel runs, so that Highway's dispatch knows, too.
const Isa& isa();

// What the processor and the operating system have, nothing forbidden.
const Isa& native_isa();

// Forbids one more: a field of Isa, or "vnni" for both of its forms. What builds on it goes, too: without avx2 nothing
// but scalar code is left. Reaches Highway. Unknown names are the user's error. Call it while no kernel runs.
void forbid(std::string_view name);

// Forbids exactly these (tests of every path; the command line at its start). Commas and spaces part names.
void set_forbidden(std::string_view names);
std::vector<std::string> forbidden();

// The rule itself: `have` without `name` and without what builds on it.
Isa without(Isa have, std::string_view name);
std::span<const std::string_view> isa_names();

}  // namespace ridge::hw
