// AVX-512 F, BW, DQ, VL: 64-byte vectors.
#include <immintrin.h>

#include "probe/kernels.h"

// After all other includes: code from elsewhere must not be compiled for this target, or the linker could give it to
// every caller.
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx2,fma"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx2,fma")
#endif

namespace ridge::probe {
namespace {

using V = __m512i;
constexpr std::int64_t width = 64;

inline V load(const std::byte* p) { return _mm512_load_si512(reinterpret_cast<const V*>(p)); }
inline void store(std::byte* p, V v) { _mm512_store_si512(reinterpret_cast<V*>(p), v); }
inline void stream(std::byte* p, V v) { _mm512_stream_si512(reinterpret_cast<V*>(p), v); }
inline void fence() { _mm_sfence(); }
inline V zero() { return _mm512_setzero_si512(); }
inline V bit_xor(V a, V b) { return _mm512_xor_si512(a, b); }
inline V every_float(float f) { return _mm512_castps_si512(_mm512_set1_ps(f)); }
inline V multiply_add(V a, V b, V c) {
  return _mm512_castps_si512(_mm512_fmadd_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b), _mm512_castsi512_ps(c)));
}
inline std::uint64_t fold(V v) {
  alignas(64) std::uint64_t words[8];
  store(reinterpret_cast<std::byte*>(words), v);
  std::uint64_t all = 0;
  for (std::uint64_t word : words) all ^= word;
  return all;
}
#include "probe/rate_body.h"
#include "probe/traffic_body.h"

struct F32Avx512 {
  static V add(V sum, V a, V b) {
    return _mm512_castps_si512(
        _mm512_fmadd_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b), _mm512_castsi512_ps(sum)));
  }
};

struct F64Avx512 {
  static V add(V sum, V a, V b) {
    return _mm512_castpd_si512(
        _mm512_fmadd_pd(_mm512_castsi512_pd(a), _mm512_castsi512_pd(b), _mm512_castsi512_pd(sum)));
  }
};

struct Int8Avx512 {  // as in kernels_avx2.cpp, twice as wide
  static V add(V sum, V a, V b) {
    const V ones = _mm512_set1_epi16(1);
    return _mm512_add_epi32(sum, _mm512_madd_epi16(_mm512_maddubs_epi16(a, b), ones));
  }
};

}  // namespace

std::uint64_t read_avx512(const Slice& s) { return read_slice<false>(s); }
std::uint64_t read_prefetch_avx512(const Slice& s) { return read_slice<true>(s); }
std::uint64_t write_avx512(const Slice& s) { return write_slice<false>(s); }
std::uint64_t write_past_caches_avx512(const Slice& s) { return write_slice<true>(s); }
std::uint64_t copy_avx512(const Slice& s) { return copy_slice<false>(s); }
std::uint64_t copy_past_caches_avx512(const Slice& s) { return copy_slice<true>(s); }
std::uint64_t triad_avx512(const Slice& s) { return triad_slice(s); }

double f32_avx512(std::int64_t n, const std::byte* random) { return multiply_chains<F32Avx512>(n, random); }

double f64_avx512(std::int64_t n, const std::byte* random) { return multiply_chains<F64Avx512>(n, random); }

double int8_avx512(std::int64_t n, const std::byte* random) { return multiply_chains<Int8Avx512>(n, random); }

}  // namespace ridge::probe

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
