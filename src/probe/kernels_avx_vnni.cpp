// AVX-VNNI: 32 products of bytes in one instruction, without AVX-512.
#include <immintrin.h>

#include "probe/kernels.h"

// After all other includes: code from elsewhere must not be compiled for this target, or the linker could give it to
// every caller.
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma,avxvnni"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,avxvnni")
#endif

namespace ridge::probe {
namespace {

using V = __m256i;

inline V load(const std::byte* p) { return _mm256_load_si256(reinterpret_cast<const V*>(p)); }
inline V bit_xor(V a, V b) { return _mm256_xor_si256(a, b); }
inline std::uint64_t fold(V v) {
  alignas(32) std::uint64_t words[4];
  _mm256_store_si256(reinterpret_cast<V*>(words), v);
  std::uint64_t all = 0;
  for (std::uint64_t word : words) all ^= word;
  return all;
}
#include "probe/rate_body.h"

struct Int8AvxVnni {
  static V add(V sum, V a, V b) { return _mm256_dpbusd_avx_epi32(sum, a, b); }
};

}  // namespace

double int8_avx_vnni(std::int64_t n, const std::byte* random) { return multiply_chains<Int8AvxVnni>(n, random); }

}  // namespace ridge::probe

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
