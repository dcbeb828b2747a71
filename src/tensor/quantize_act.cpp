#include "tensor/quantize_act.h"

#include <immintrin.h>

#include <cmath>
#include <cstring>

#include "hw/cpu.h"
#include "tensor/blocks.h"
#include "tensor/decode.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"  // of GCC 12 about its own intrinsics (GCC bug 105593)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace ridge {
namespace {

struct Scale {
  float d, inverse;
};
// The rules of encode_q8_act for a block whose largest magnitude is `most`: its q are zero where inverse is.
inline Scale scale_of(float most) {
  if (most < 0x1p-119f) return {0, 0};
  return {most / 127.0f, std::isfinite(most) ? 127.0f / most : 0};
}

// Sums of q[0..15] and q[16..31] (q offset by 128 to be summed as unsigned bytes), then the whole block.
__attribute__((target("avx2,fma"))) inline void store_block(const Scale& scale, __m256i q, ActBlock& out) {
  const __m256i eights = _mm256_sad_epu8(_mm256_xor_si256(q, _mm256_set1_epi8(-128)), _mm256_setzero_si256());
  const __m256i sums = _mm256_add_epi64(eights, _mm256_unpackhi_epi64(eights, eights));
  const int first = _mm_cvtsi128_si32(_mm256_castsi256_si128(sums)) - 16 * 128;
  const int second = _mm_cvtsi128_si32(_mm256_extracti128_si256(sums, 1)) - 16 * 128;
  out.d = scale.d;
  out.d_sum = scale.d * float(first + second);
  out.sum[0] = std::int16_t(first), out.sum[1] = std::int16_t(second);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out.q), q);
}

__attribute__((target("avx2,fma"))) inline float largest(__m256i magnitudes) {  // as bits, so that NaN is the largest
  __m128i m = _mm_max_epu32(_mm256_castsi256_si128(magnitudes), _mm256_extracti128_si256(magnitudes, 1));
  m = _mm_max_epu32(m, _mm_shuffle_epi32(m, 0x4e));
  m = _mm_max_epu32(m, _mm_shuffle_epi32(m, 0xb1));
  return _mm_cvtss_f32(_mm_castsi128_ps(m));
}

__attribute__((target("avx2,fma"))) inline void block_avx2(const float* x, ActBlock& out) {
  const __m256i magnitude = _mm256_set1_epi32(0x7fffffff);
  __m256 v[4];
  __m256i most = _mm256_setzero_si256();
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    v[i] = _mm256_loadu_ps(x + 8 * i);
    most = _mm256_max_epu32(most, _mm256_and_si256(_mm256_castps_si256(v[i]), magnitude));
  }
  const Scale scale = scale_of(largest(most));
  if (scale.inverse == 0) return store_block(scale, _mm256_setzero_si256(), out);
  const __m256 inverse = _mm256_set1_ps(scale.inverse);
  __m256i q[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) q[i] = _mm256_cvtps_epi32(_mm256_mul_ps(v[i], inverse));
  const __m256i mixed = _mm256_packs_epi16(_mm256_packs_epi32(q[0], q[1]), _mm256_packs_epi32(q[2], q[3]));
  store_block(scale, _mm256_permutevar8x32_epi32(mixed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)), out);
}

#define RIDGE_AVX512 "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma"
__attribute__((target(RIDGE_AVX512))) inline void block_avx512(const float* x, ActBlock& out) {
  const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
  const __m512 a = _mm512_loadu_ps(x), b = _mm512_loadu_ps(x + 16);
  const __m512i most = _mm512_max_epu32(_mm512_and_si512(_mm512_castps_si512(a), magnitude),
                                        _mm512_and_si512(_mm512_castps_si512(b), magnitude));
  const Scale scale =
      scale_of(largest(_mm256_max_epu32(_mm512_castsi512_si256(most), _mm512_extracti64x4_epi64(most, 1))));
  if (scale.inverse == 0) return store_block(scale, _mm256_setzero_si256(), out);
  const __m512 inverse = _mm512_set1_ps(scale.inverse);
  const __m128i low = _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(_mm512_mul_ps(a, inverse)));
  const __m128i high = _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(_mm512_mul_ps(b, inverse)));
  store_block(scale, _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1), out);
}

#define RIDGE_ROW(isa, target_text)                                                                        \
  __attribute__((target(target_text))) void row_##isa(const float* x, std::int64_t n, std::byte* blocks) { \
    auto* out = reinterpret_cast<ActBlock*>(blocks);                                                       \
    for (; n >= 32; x += 32, n -= 32) block_##isa(x, *out++);                                              \
    if (n == 0) return;                                                                                    \
    float last[32] = {};                                                                                   \
    std::memcpy(last, x, std::size_t(n) * sizeof(float));                                                  \
    block_##isa(last, *out);                                                                               \
  }
RIDGE_ROW(avx2, "avx2,fma")
RIDGE_ROW(avx512, RIDGE_AVX512)
#undef RIDGE_ROW

}  // namespace

void quantize_row(const float* x, std::int64_t n, std::byte* blocks) { quantize_row(x, n, blocks, hw::isa()); }

void quantize_row(const float* x, std::int64_t n, std::byte* blocks, const hw::Isa& isa) {
  if (isa.avx512) row_avx512(x, n, blocks);
  else if (isa.avx2) row_avx2(x, n, blocks);
  else encode_q8_act(x, blocks, n);
}

}  // namespace ridge
