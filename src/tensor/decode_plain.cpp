#include <cmath>
#include <cstring>

#include "tensor/decode.h"
#include "tensor/float16.h"

namespace ridge {

void decode_f32(const std::byte* b, float* v, std::int64_t n) { std::memcpy(v, b, std::size_t(n) * 4); }
void encode_f32(const float* v, std::byte* b, std::int64_t n) { std::memcpy(b, v, std::size_t(n) * 4); }

namespace {
template <class Bits, class F> void decode_with(const std::byte* b, float* v, std::int64_t n, F f) {
  for (std::int64_t i = 0; i < n; ++i) {
    Bits bits;
    std::memcpy(&bits, b + i * std::int64_t(sizeof bits), sizeof bits);
    v[i] = f(bits);
  }
}
template <class Bits, class F> void encode_with(const float* v, std::byte* b, std::int64_t n, F f) {
  for (std::int64_t i = 0; i < n; ++i) {
    const Bits bits = f(v[i]);
    std::memcpy(b + i * std::int64_t(sizeof bits), &bits, sizeof bits);
  }
}
}  // namespace

void decode_f16(const std::byte* b, float* v, std::int64_t n) { decode_with<std::uint16_t>(b, v, n, half_to_float); }
void encode_f16(const float* v, std::byte* b, std::int64_t n) { encode_with<std::uint16_t>(v, b, n, float_to_half); }
void decode_bf16(const std::byte* b, float* v, std::int64_t n) { decode_with<std::uint16_t>(b, v, n, bf16_to_float); }
void encode_bf16(const float* v, std::byte* b, std::int64_t n) { encode_with<std::uint16_t>(v, b, n, float_to_bf16); }
void decode_f8_e4m3(const std::byte* b, float* v, std::int64_t n) {
  decode_with<std::uint8_t>(b, v, n, f8_e4m3_to_float);
}
void encode_f8_e4m3(const float* v, std::byte* b, std::int64_t n) {
  encode_with<std::uint8_t>(v, b, n, float_to_f8_e4m3);
}

float f8_e4m3_to_float(std::uint8_t v) {
  const int exponent = (v >> 3) & 15, mantissa = v & 7;
  float x;
  if (exponent == 15 && mantissa == 7) x = NAN;
  else if (exponent == 0) x = float(mantissa) * 0x1p-9f;
  else x = std::ldexp(float(8 + mantissa), exponent - 10);
  return v & 0x80 ? -x : x;
}

std::uint8_t float_to_f8_e4m3(float f) {
  const std::uint8_t sign = std::signbit(f) ? 0x80 : 0;
  if (std::isnan(f)) return sign | 0x7f;
  const float a = std::fabs(f);
  if (a >= 464.0f) return sign | 0x7e;  // half way to the value after 448 and beyond: saturate
  int exponent = a < 0x1p-6f ? -6 : std::ilogb(a);
  const long steps = std::lrint(std::ldexp(a, 3 - exponent));  // 8..16 for normal values, 0..8 below; ties to even
  if (exponent == -6 && steps < 8) return sign | std::uint8_t(steps);
  return sign | std::uint8_t(((exponent + 7) << 3) + (steps - 8) > 0x7e ? 0x7e : ((exponent + 7) << 3) + (steps - 8));
}

}  // namespace ridge
