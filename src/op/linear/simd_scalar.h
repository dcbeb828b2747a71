// The vector operations that the kernels are written in, one lane wide: the plain definition of each. A lane is 32
// bits: four codes, an integer or a float. simd_avx2.h and simd_avx512.h give the same names more lanes.
#define RIDGE_INLINE [[gnu::always_inline]] inline
constexpr int lanes = 1;
using I = std::uint32_t;
using F = float;

RIDGE_INLINE std::uint32_t bits16(const std::byte* p) {
  std::uint16_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

// Four codes (or other bytes) per lane, from consecutive memory.
RIDGE_INLINE I load(const std::byte* p) {
  I v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
RIDGE_INLINE I every_byte(int v) { return 0x01010101u * std::uint8_t(v); }
RIDGE_INLINE I bit_and(I a, I b) { return a & b; }
RIDGE_INLINE I bit_xor(I a, I b) { return a ^ b; }
RIDGE_INLINE I bit_or(I a, I b) { return a | b; }
// Left by N, or right by -N, within each 16 bits: callers mask off what crosses into the next byte.
template <int N> RIDGE_INLINE I shift(I a) {
  constexpr std::uint32_t keep = N >= 0 ? 0xffffu << N & 0xffffu : 0xffffu >> -N;
  return (N >= 0 ? a << (N >= 0 ? N : 0) : a >> (N < 0 ? -N : 0)) & (keep | keep << 16);
}
// Each byte (0..15) replaced by that entry of the table.
RIDGE_INLINE I lookup(const std::int8_t (&table)[16], I index) {
  I v = 0;
  for (int b = 0; b < 4; ++b) v |= I(std::uint8_t(table[index >> 8 * b & 15])) << 8 * b;
  return v;
}
// Byte B of each lane, unsigned.
template <int B> RIDGE_INLINE F byte_to_float(I v) { return float(v >> 8 * B & 255); }

RIDGE_INLINE F zero() { return 0; }
RIDGE_INLINE F every(float v) { return v; }
RIDGE_INLINE F mul(F a, F b) { return a * b; }
RIDGE_INLINE F add(F a, F b) { return a + b; }
RIDGE_INLINE F fma(F a, F b, F c) { return std::fma(a, b, c); }
RIDGE_INLINE F to_float(I v) { return float(std::int32_t(v)); }
RIDGE_INLINE I load_u8(const std::byte* p) { return std::uint32_t(*p); }  // one byte per lane
RIDGE_INLINE I load_i8(const std::byte* p) { return I(std::int32_t(std::int8_t(*p))); }
RIDGE_INLINE I every_int(int v) { return I(v); }
template <int N> RIDGE_INLINE I shift_int(I a) { return N >= 0 ? a << (N >= 0 ? N : 0) : a >> (N < 0 ? -N : 0); }
RIDGE_INLINE I sub_int(I a, I b) { return a - b; }
RIDGE_INLINE I max_int(I a, I b) { return std::int32_t(a) > std::int32_t(b) ? a : b; }
RIDGE_INLINE I as_int(F v) { return std::bit_cast<std::uint32_t>(v); }
RIDGE_INLINE F as_float(I v) { return std::bit_cast<float>(v); }
RIDGE_INLINE I select_equal(I a, I b, I equal, I other) { return a == b ? equal : other; }

RIDGE_INLINE F load_f32(const std::byte* p) { return as_float(load(p)); }
RIDGE_INLINE F load_f16(const std::byte* p) { return half_to_float(std::uint16_t(bits16(p))); }
RIDGE_INLINE F load_bf16(const std::byte* p) { return as_float(bits16(p) << 16); }

// Two 16-bit numbers in every lane, and a.first * b.first + a.second * b.second.
RIDGE_INLINE I every_pair(const std::int16_t* p) { return load(reinterpret_cast<const std::byte*>(p)); }
RIDGE_INLINE I pair_dot(I a, I b) {
  return I(std::int16_t(a) * std::int16_t(b) + std::int16_t(a >> 16) * std::int16_t(b >> 16));
}

// Whether `dot` wants codes of this largest value flipped to signed bytes (code ^ 128).
constexpr bool signed_codes(int) { return false; }
// start + sum over groups g of codes[g] (unsigned, at most Max) times x[4 g .. 4 g + 3], exact.
template <int Max, int Groups> RIDGE_INLINE I dot(I start, const I* codes, const std::int8_t* x) {
  std::int32_t sum = std::int32_t(start);
  for (int g = 0; g < Groups; ++g)
    for (int b = 0; b < 4; ++b) sum += std::int32_t(codes[g] >> 8 * b & 255) * x[4 * g + b];
  return I(sum);
}

// The first `rows` lanes.
RIDGE_INLINE void store(float* out, F v, int rows) {
  if (rows > 0) *out = v;
}
