// AVX-512 VNNI: 64 products of bytes in one instruction.
#include <immintrin.h>

#include "probe/kernels.h"

// After all other includes: code from elsewhere must not be compiled for this target, or the linker could give it to
// every caller.
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma")
#endif

namespace ridge::probe {
namespace {

using V = __m512i;

inline V load(const std::byte* p) { return _mm512_load_si512(reinterpret_cast<const V*>(p)); }
inline V bit_xor(V a, V b) { return _mm512_xor_si512(a, b); }
inline std::uint64_t fold(V v) {
  alignas(64) std::uint64_t words[8];
  _mm512_store_si512(reinterpret_cast<V*>(words), v);
  std::uint64_t all = 0;
  for (std::uint64_t word : words) all ^= word;
  return all;
}
#include "probe/rate_body.h"

struct Int8Avx512Vnni {
  static V add(V sum, V a, V b) { return _mm512_dpbusd_epi32(sum, a, b); }
};

}  // namespace

double int8_avx512_vnni(std::int64_t n, const std::byte* random) { return multiply_chains<Int8Avx512Vnni>(n, random); }

}  // namespace ridge::probe

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
