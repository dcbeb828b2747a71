// Which of a kernel's compiled versions a target may use. Kernels written with Highway are compiled once for each of
// these and chosen by the target's instruction sets, so that a forbidden one is not used and every level can be tested
// in one process.
#pragma once
#include <string_view>

#include "hw/isa.h"

// For files that include Highway after this header: the targets to compile besides the baseline.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)

namespace ridge::op {

enum class SimdLevel : std::uint8_t { baseline, avx2, avx512 };

SimdLevel simd_level(const hw::Isa& isa);
std::string_view name(SimdLevel level);

// The best version that `level` allows; null ones were not compiled.
template <class Function> Function at_level(SimdLevel level, Function avx512, Function avx2, Function baseline) {
  if (level == SimdLevel::avx512 && avx512) return avx512;
  if (level != SimdLevel::baseline && avx2) return avx2;
  return baseline;
}

// In a file with several Highway targets: the version of `function` for `level`.
#define RIDGE_AT_LEVEL(level, function)                                                                           \
  at_level<decltype(&HWY_STATIC_DISPATCH(function))>(level, HWY_CHOOSE_AVX3(function), HWY_CHOOSE_AVX2(function), \
                                                     &HWY_STATIC_DISPATCH(function))

}  // namespace ridge::op
