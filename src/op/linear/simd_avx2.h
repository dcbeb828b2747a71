// 8 lanes: half of a panel. Included inside a target region and a namespace of its own (cpu_avx2.cpp,
// cpu_avx_vnni.cpp); what each function does is said in simd_scalar.h.
#define RIDGE_INLINE [[gnu::always_inline]] inline
constexpr int lanes = 8;
using I = __m256i;
using F = __m256;

RIDGE_INLINE I load(const std::byte* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
RIDGE_INLINE I every_byte(int v) { return _mm256_set1_epi8(char(v)); }
RIDGE_INLINE I bit_and(I a, I b) { return _mm256_and_si256(a, b); }
RIDGE_INLINE I bit_xor(I a, I b) { return _mm256_xor_si256(a, b); }
RIDGE_INLINE I bit_or(I a, I b) { return _mm256_or_si256(a, b); }
template <int N> RIDGE_INLINE I shift(I a) {
  if constexpr (N > 0) return _mm256_slli_epi16(a, N);
  else if constexpr (N < 0) return _mm256_srli_epi16(a, -N);
  else return a;
}
RIDGE_INLINE I lookup(const std::int8_t (&table)[16], I index) {
  return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table))),
                             index);
}
template <int B> RIDGE_INLINE F byte_to_float(I v) {
  const I low =
      B == 3 ? _mm256_srli_epi32(v, 24) : _mm256_and_si256(_mm256_srli_epi32(v, 8 * B), _mm256_set1_epi32(255));
  return _mm256_cvtepi32_ps(low);
}

RIDGE_INLINE F zero() { return _mm256_setzero_ps(); }
RIDGE_INLINE F every(float v) { return _mm256_set1_ps(v); }
RIDGE_INLINE F mul(F a, F b) { return _mm256_mul_ps(a, b); }
RIDGE_INLINE F add(F a, F b) { return _mm256_add_ps(a, b); }
RIDGE_INLINE F fma(F a, F b, F c) { return _mm256_fmadd_ps(a, b, c); }
RIDGE_INLINE F to_float(I v) { return _mm256_cvtepi32_ps(v); }
RIDGE_INLINE I load_u8(const std::byte* p) {
  return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
}
RIDGE_INLINE I load_i8(const std::byte* p) {
  return _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
}
RIDGE_INLINE I every_int(int v) { return _mm256_set1_epi32(v); }
template <int N> RIDGE_INLINE I shift_int(I a) {
  if constexpr (N >= 0) return _mm256_slli_epi32(a, N);
  else return _mm256_srli_epi32(a, -N);
}
RIDGE_INLINE I sub_int(I a, I b) { return _mm256_sub_epi32(a, b); }
RIDGE_INLINE I max_int(I a, I b) { return _mm256_max_epi32(a, b); }
RIDGE_INLINE I as_int(F v) { return _mm256_castps_si256(v); }
RIDGE_INLINE F as_float(I v) { return _mm256_castsi256_ps(v); }
RIDGE_INLINE I select_equal(I a, I b, I equal, I other) {
  return _mm256_blendv_epi8(other, equal, _mm256_cmpeq_epi32(a, b));
}

RIDGE_INLINE F load_f32(const std::byte* p) { return _mm256_loadu_ps(reinterpret_cast<const float*>(p)); }
RIDGE_INLINE F load_f16(const std::byte* p) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
RIDGE_INLINE F load_bf16(const std::byte* p) {
  return as_float(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))), 16));
}

RIDGE_INLINE I every_pair(const std::int16_t* p) {
  std::int32_t both;
  std::memcpy(&both, p, sizeof both);
  return _mm256_set1_epi32(both);
}
RIDGE_INLINE I pair_dot(I a, I b) { return _mm256_madd_epi16(a, b); }
RIDGE_INLINE I every_four(const std::int8_t* p) {
  std::int32_t four;
  std::memcpy(&four, p, sizeof four);
  return _mm256_set1_epi32(four);
}

#ifdef RIDGE_VNNI
constexpr bool signed_codes(int) { return false; }
template <int Max, int Groups> RIDGE_INLINE I dot(I start, const I* codes, const std::int8_t* x) {
  I sum = start;
#pragma GCC unroll 8
  for (int g = 0; g < Groups; ++g) sum = _mm256_dpbusd_avx_epi32(sum, codes[g], every_four(x + 4 * g));
  return sum;
}
#else
constexpr bool signed_codes(int max) { return max > 127; }
template <int Max, int Groups> RIDGE_INLINE I dot(I start, const I* codes, const std::int8_t* x) {
  const I ones = _mm256_set1_epi16(1);
  I sum = start;
  if constexpr (Max > 127) {  // |w| x (x with w's sign): 2 * 128 * 127 fits in 16 bits, 2 * 255 * 127 would not
#pragma GCC unroll 8
    for (int g = 0; g < Groups; ++g) {
      const I pairs =
          _mm256_maddubs_epi16(_mm256_abs_epi8(codes[g]), _mm256_sign_epi8(every_four(x + 4 * g), codes[g]));
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, ones));
    }
    return sum;
  }
  constexpr int fit = Max <= 16 ? 8 : Max <= 32 ? 4 : Max <= 64 ? 2 : 1;  // sums of pairs that 16 bits hold
  constexpr int run = fit < Groups ? fit : Groups;
#pragma GCC unroll 8
  for (int g = 0; g < Groups; g += run) {
    I part = _mm256_maddubs_epi16(codes[g], every_four(x + 4 * g));
#pragma GCC unroll 8
    for (int i = 1; i < run; ++i)
      part = _mm256_add_epi16(part, _mm256_maddubs_epi16(codes[g + i], every_four(x + 4 * (g + i))));
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(part, ones));
  }
  return sum;
}
#endif

RIDGE_INLINE void store(float* out, F v, int rows) {
  if (rows >= lanes) return _mm256_storeu_ps(out, v);
  alignas(32) float all[lanes];
  _mm256_store_ps(all, v);
  for (int i = 0; i < rows; ++i) out[i] = all[i];
}
