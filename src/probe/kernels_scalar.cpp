// For processors without AVX2, and for when it is forbidden: what the compiler makes for every machine of the kind.
#include <cstring>

#include "probe/kernels.h"

namespace ridge::probe {
namespace {

struct V {
  std::uint64_t word[2];
};
constexpr std::int64_t width = 16;

inline V load(const std::byte* p) {
  V v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
inline void store(std::byte* p, V v) { std::memcpy(p, &v, sizeof v); }
inline void stream(std::byte* p, V v) { store(p, v); }
inline void fence() {}
inline V zero() { return {{0, 0}}; }
inline V bit_xor(V a, V b) { return {{a.word[0] ^ b.word[0], a.word[1] ^ b.word[1]}}; }
inline std::uint64_t fold(V v) { return v.word[0] ^ v.word[1]; }
inline V every_float(float f) {
  const float four[4] = {f, f, f, f};
  V v;
  std::memcpy(&v, four, sizeof v);
  return v;
}
inline V multiply_add(V a, V b, V c) {
  float x[4], y[4], z[4];
  std::memcpy(x, &a, sizeof x), std::memcpy(y, &b, sizeof y), std::memcpy(z, &c, sizeof z);
  for (int i = 0; i < 4; ++i) z[i] += x[i] * y[i];
  V v;
  std::memcpy(&v, z, sizeof v);
  return v;
}
#include "probe/traffic_body.h"

// Multiply and add apart, in the vectors that every machine of the kind has (SSE2, NEON): what the compiler makes of
// plain loops at best.
template <class Lane> struct Multiplies {
  typedef Lane V __attribute__((vector_size(16)));
  static V load(const std::byte* p) {
    V v;
    std::memcpy(&v, p, sizeof v);
    return v;
  }
  static void add(V& sum, V& a, V& b) {
#if defined(__x86_64__)
    asm volatile("" : "+x"(a), "+x"(b));  // as in rate_body.h
#elif defined(__aarch64__)
    asm volatile("" : "+w"(a), "+w"(b));
#endif
    sum += a * b;
  }
  static double chains(std::int64_t iterations, const std::byte* random) {
    V a = load(random), b = load(random + 128);
    V s0 = a, s1 = b, s2 = a, s3 = b, s4 = a, s5 = b, s6 = a, s7 = b, s8 = a, s9 = b, s10 = a, s11 = b;
    for (std::int64_t i = 0; i < iterations; ++i) {
      add(s0, a, b), add(s1, a, b), add(s2, a, b), add(s3, a, b), add(s4, a, b), add(s5, a, b);
      add(s6, a, b), add(s7, a, b), add(s8, a, b), add(s9, a, b), add(s10, a, b), add(s11, a, b);
    }
    const V all = s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7 + s8 + s9 + s10 + s11;
    return double(all[0]) + double(all[1]);
  }
};

}  // namespace

std::uint64_t read_scalar(const Slice& s) { return read_slice<false>(s); }
std::uint64_t read_prefetch_scalar(const Slice& s) { return read_slice<true>(s); }
std::uint64_t write_scalar(const Slice& s) { return write_slice<false>(s); }
std::uint64_t write_past_caches_scalar(const Slice& s) { return write_slice<true>(s); }
std::uint64_t copy_scalar(const Slice& s) { return copy_slice<false>(s); }
std::uint64_t copy_past_caches_scalar(const Slice& s) { return copy_slice<true>(s); }
std::uint64_t triad_scalar(const Slice& s) { return triad_slice(s); }

double f32_scalar(std::int64_t n, const std::byte* random) { return Multiplies<float>::chains(n, random); }
double f64_scalar(std::int64_t n, const std::byte* random) { return Multiplies<double>::chains(n, random); }
double int8_scalar(std::int64_t n, const std::byte* random) {  // bytes widened to 16 bits, unsigned: sums wrap
  return Multiplies<std::uint16_t>::chains(n, random);
}

}  // namespace ridge::probe
