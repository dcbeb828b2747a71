#include "op/simd_level.h"

namespace ridge::op {

SimdLevel simd_level(const hw::Isa& isa) {
  if (isa.avx512) return SimdLevel::avx512;
  return isa.avx2 ? SimdLevel::avx2 : SimdLevel::baseline;
}

std::string_view name(SimdLevel level) {
  switch (level) {
    case SimdLevel::avx512: return "avx512";
    case SimdLevel::avx2: return "avx2";
    case SimdLevel::baseline: break;
  }
  return "baseline";
}

}  // namespace ridge::op
