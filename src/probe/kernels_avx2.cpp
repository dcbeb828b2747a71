// AVX2 with FMA: 32-byte vectors.
#include <immintrin.h>

#include "probe/kernels.h"

// After all other includes: code from elsewhere must not be compiled for this target, or the linker could give it to
// every caller.
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif

namespace ridge::probe {
namespace {

using V = __m256i;
constexpr std::int64_t width = 32;

inline V load(const std::byte* p) { return _mm256_load_si256(reinterpret_cast<const V*>(p)); }
inline void store(std::byte* p, V v) { _mm256_store_si256(reinterpret_cast<V*>(p), v); }
inline void stream(std::byte* p, V v) { _mm256_stream_si256(reinterpret_cast<V*>(p), v); }
inline void fence() { _mm_sfence(); }
inline V zero() { return _mm256_setzero_si256(); }
inline V bit_xor(V a, V b) { return _mm256_xor_si256(a, b); }
inline V every_float(float f) { return _mm256_castps_si256(_mm256_set1_ps(f)); }
inline V multiply_add(V a, V b, V c) {
  return _mm256_castps_si256(_mm256_fmadd_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), _mm256_castsi256_ps(c)));
}
inline std::uint64_t fold(V v) {
  alignas(32) std::uint64_t words[4];
  store(reinterpret_cast<std::byte*>(words), v);
  std::uint64_t all = 0;
  for (std::uint64_t word : words) all ^= word;
  return all;
}
#include "probe/rate_body.h"
#include "probe/traffic_body.h"

struct F32Avx2 {
  static V add(V sum, V a, V b) {
    return _mm256_castps_si256(
        _mm256_fmadd_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), _mm256_castsi256_ps(sum)));
  }
};

struct F64Avx2 {
  static V add(V sum, V a, V b) {
    return _mm256_castpd_si256(
        _mm256_fmadd_pd(_mm256_castsi256_pd(a), _mm256_castsi256_pd(b), _mm256_castsi256_pd(sum)));
  }
};

struct Int8Avx2 {  // products of unsigned and signed bytes, added in pairs to 16 bits, in pairs to 32, to the sum
  static V add(V sum, V a, V b) {
    const V ones = _mm256_set1_epi16(1);
    return _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(a, b), ones));
  }
};

}  // namespace

std::uint64_t read_avx2(const Slice& s) { return read_slice<false>(s); }
std::uint64_t read_prefetch_avx2(const Slice& s) { return read_slice<true>(s); }
std::uint64_t write_avx2(const Slice& s) { return write_slice<false>(s); }
std::uint64_t write_past_caches_avx2(const Slice& s) { return write_slice<true>(s); }
std::uint64_t copy_avx2(const Slice& s) { return copy_slice<false>(s); }
std::uint64_t copy_past_caches_avx2(const Slice& s) { return copy_slice<true>(s); }
std::uint64_t triad_avx2(const Slice& s) { return triad_slice(s); }

double f32_avx2(std::int64_t n, const std::byte* random) { return multiply_chains<F32Avx2>(n, random); }

double f64_avx2(std::int64_t n, const std::byte* random) { return multiply_chains<F64Avx2>(n, random); }

double int8_avx2(std::int64_t n, const std::byte* random) { return multiply_chains<Int8Avx2>(n, random); }

}  // namespace ridge::probe

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
