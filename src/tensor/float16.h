// Half, bfloat16 and FP8 E4M3 as bits, to and from float, round to nearest even; NaN stays NaN.
#pragma once
#include <bit>
#include <cstdint>

namespace ridge {

inline float half_to_float(std::uint16_t h) {
  const std::uint32_t sign = std::uint32_t(h & 0x8000u) << 16;
  const std::uint32_t rest = h & 0x7fffu;
  if (rest >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | ((rest & 0x3ffu) << 13));
  if (rest >= 0x0400u) return std::bit_cast<float>(sign | ((rest << 13) + (112u << 23)));
  const float small = float(rest) * 0x1p-24f;
  return sign ? -small : small;
}

inline std::uint16_t float_to_half(float f) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(f);
  const std::uint16_t sign = std::uint16_t((bits >> 16) & 0x8000u);
  const std::uint32_t mag = bits & 0x7fffffffu;
  if (mag > 0x7f800000u) return std::uint16_t(sign | 0x7e00u | ((mag >> 13) & 0x3ffu));
  if (mag >= 0x477ff000u) return std::uint16_t(sign | 0x7c00u);  // 65520 and up round to infinity
  if (mag < 0x38800000u) {                                       // subnormal half: let the adder round
    const float shifted = std::bit_cast<float>(mag) + 0.5f;
    return std::uint16_t(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u));
  }
  const std::uint32_t rounded = mag + 0xfffu + ((mag >> 13) & 1u);
  return std::uint16_t(sign | ((rounded - (112u << 23)) >> 13));
}

inline float bf16_to_float(std::uint16_t b) { return std::bit_cast<float>(std::uint32_t(b) << 16); }

inline std::uint16_t float_to_bf16(float f) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(f);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return std::uint16_t((bits >> 16) | 0x40u);
  return std::uint16_t((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

float f8_e4m3_to_float(std::uint8_t v);  // the "fn" variant: no infinity, 0x7f and 0xff are NaN
std::uint8_t float_to_f8_e4m3(float f);  // saturates at 448

}  // namespace ridge
