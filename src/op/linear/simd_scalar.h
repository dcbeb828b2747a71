// The vector operations that the kernels are written in, one lane wide: the plain definition of each. A lane is 32
// bits: four codes, an integer or a float. simd_avx2.h and simd_avx512.h give the same names more lanes.
constexpr int lanes = 1;
using I = std::uint32_t;
using F = float;

inline std::uint32_t bits16(const std::byte* p) {
  std::uint16_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

// Four codes (or other bytes) per lane, from consecutive memory.
inline I load(const std::byte* p) {
  I v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
inline I every_byte(int v) { return 0x01010101u * std::uint8_t(v); }
inline I bit_and(I a, I b) { return a & b; }
inline I bit_xor(I a, I b) { return a ^ b; }
inline I bit_or(I a, I b) { return a | b; }
// Left by N, or right by -N, within each 16 bits: callers mask off what crosses into the next byte.
template <int N> inline I shift(I a) {
  constexpr std::uint32_t keep = N >= 0 ? 0xffffu << N & 0xffffu : 0xffffu >> -N;
  return (N >= 0 ? a << (N >= 0 ? N : 0) : a >> (N < 0 ? -N : 0)) & (keep | keep << 16);
}
// Each byte (0..15) replaced by that entry of the table.
inline I lookup(const std::int8_t (&table)[16], I index) {
  I v = 0;
  for (int b = 0; b < 4; ++b) v |= I(std::uint8_t(table[index >> 8 * b & 15])) << 8 * b;
  return v;
}
// Byte B of each lane, unsigned.
template <int B> inline F byte_to_float(I v) { return float(v >> 8 * B & 255); }

inline F zero() { return 0; }
inline F every(float v) { return v; }
inline F mul(F a, F b) { return a * b; }
inline F add(F a, F b) { return a + b; }
inline F fma(F a, F b, F c) { return std::fma(a, b, c); }
inline F to_float(I v) { return float(std::int32_t(v)); }
inline I load_u8(const std::byte* p) { return std::uint32_t(*p); }  // one byte per lane
inline I load_i8(const std::byte* p) { return I(std::int32_t(std::int8_t(*p))); }
inline I every_int(int v) { return I(v); }
template <int N> inline I shift_int(I a) { return N >= 0 ? a << (N >= 0 ? N : 0) : a >> (N < 0 ? -N : 0); }
inline I sub_int(I a, I b) { return a - b; }
inline I max_int(I a, I b) { return std::int32_t(a) > std::int32_t(b) ? a : b; }
inline I as_int(F v) { return std::bit_cast<std::uint32_t>(v); }
inline F as_float(I v) { return std::bit_cast<float>(v); }
inline I select_equal(I a, I b, I equal, I other) { return a == b ? equal : other; }

inline F load_f32(const std::byte* p) { return as_float(load(p)); }
inline F load_f16(const std::byte* p) { return half_to_float(std::uint16_t(bits16(p))); }
inline F load_bf16(const std::byte* p) { return as_float(bits16(p) << 16); }

// Two 16-bit numbers in every lane, and a.first * b.first + a.second * b.second.
inline I every_pair(const std::int16_t* p) { return load(reinterpret_cast<const std::byte*>(p)); }
inline I pair_dot(I a, I b) {
  return I(std::int16_t(a) * std::int16_t(b) + std::int16_t(a >> 16) * std::int16_t(b >> 16));
}

// Whether `dot` wants codes of this largest value flipped to signed bytes (code ^ 128).
constexpr bool signed_codes(int) { return false; }
// start + sum over groups g of codes[g] (unsigned, at most Max) times x[4 g .. 4 g + 3], exact.
template <int Max, int Groups> inline I dot(I start, const I* codes, const std::int8_t* x) {
  std::int32_t sum = std::int32_t(start);
  for (int g = 0; g < Groups; ++g)
    for (int b = 0; b < 4; ++b) sum += std::int32_t(codes[g] >> 8 * b & 255) * x[4 * g + b];
  return I(sum);
}

// The first `rows` lanes.
inline void store(float* out, F v, int rows) {
  if (rows > 0) *out = v;
}
