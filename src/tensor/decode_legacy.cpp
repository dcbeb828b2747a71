// The formats of 32 elements and one scale: Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, and the activations' own.
#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

#include "tensor/blocks.h"
#include "tensor/decode.h"
#include "tensor/each_block.h"
#include "tensor/float16.h"

namespace ridge {
namespace {

template <class Block> int five_bits(const Block& k, int i) {
  return nibble(k.q, i) | ((k.high[i / 8] >> (i % 8)) & 1) << 4;
}

// Stores 32 codes of 4 bits, and of 5 where the block has room for the fifth.
template <class Block> void put_codes(const int (&code)[32], Block& k) {
  for (int i = 0; i < 16; ++i) k.q[i] = std::uint8_t((code[i] & 15) | (code[i + 16] & 15) << 4);
  if constexpr (requires { k.high; }) {
    for (int i = 0; i < 32; ++i) k.high[i / 8] = std::uint8_t(k.high[i / 8] | (code[i] >> 4) << (i % 8));
  }
}

// Symmetric: the value of the largest magnitude, with its sign, becomes -zero_code.
template <class Block> void pack_around_zero(const float (&x)[32], int zero_code, Block& k) {
  float extreme = 0;
  for (float f : x)
    if (std::fabs(f) > std::fabs(extreme)) extreme = f;
  const float d = extreme / float(-zero_code), inverse = d != 0 ? 1.0f / d : 0.0f;
  int code[32];
  for (int i = 0; i < 32; ++i)
    code[i] = int(within(x[i] * inverse + (float(zero_code) + 0.5f), 0, float(2 * zero_code - 1)));
  k.d = float_to_half(d);
  put_codes(code, k);
}

// From the smallest value, code 0, to the largest, code `top`.
template <class Block> void pack_from_minimum(const float (&x)[32], int top, Block& k) {
  const auto [low, high] = std::minmax_element(std::begin(x), std::end(x));
  const float d = (*high - *low) / float(top), inverse = d != 0 ? 1.0f / d : 0.0f, m = *low;
  int code[32];
  for (int i = 0; i < 32; ++i) code[i] = int(within((x[i] - m) * inverse + 0.5f, 0, float(top)));
  k.d = float_to_half(d), k.m = float_to_half(m);
  put_codes(code, k);
}

}  // namespace

void decode_q8_0(const std::byte* b, float* v, std::int64_t n) {
  decode_blocks<BlockQ8_0, 32>(b, v, n, [](const BlockQ8_0& k, float(&x)[32]) {
    for (int i = 0; i < 32; ++i) x[i] = half_to_float(k.d) * float(k.q[i]);
  });
}
void decode_q4_0(const std::byte* b, float* v, std::int64_t n) {
  decode_blocks<BlockQ4_0, 32>(b, v, n, [](const BlockQ4_0& k, float(&x)[32]) {
    for (int i = 0; i < 32; ++i) x[i] = half_to_float(k.d) * float(nibble(k.q, i) - 8);
  });
}
void decode_q4_1(const std::byte* b, float* v, std::int64_t n) {
  decode_blocks<BlockQ4_1, 32>(b, v, n, [](const BlockQ4_1& k, float(&x)[32]) {
    for (int i = 0; i < 32; ++i) x[i] = half_to_float(k.d) * float(nibble(k.q, i)) + half_to_float(k.m);
  });
}
void decode_q5_0(const std::byte* b, float* v, std::int64_t n) {
  decode_blocks<BlockQ5_0, 32>(b, v, n, [](const BlockQ5_0& k, float(&x)[32]) {
    for (int i = 0; i < 32; ++i) x[i] = half_to_float(k.d) * float(five_bits(k, i) - 16);
  });
}
void decode_q5_1(const std::byte* b, float* v, std::int64_t n) {
  decode_blocks<BlockQ5_1, 32>(b, v, n, [](const BlockQ5_1& k, float(&x)[32]) {
    for (int i = 0; i < 32; ++i) x[i] = half_to_float(k.d) * float(five_bits(k, i)) + half_to_float(k.m);
  });
}
void decode_q8_act(const std::byte* b, float* v, std::int64_t n) {
  decode_blocks<ActBlock, 32>(b, v, n, [](const ActBlock& k, float(&x)[32]) {
    for (int i = 0; i < 32; ++i) x[i] = k.d * float(k.q[i]);
  });
}

void encode_q8_0(const float* v, std::byte* b, std::int64_t n) {
  encode_blocks<BlockQ8_0, 32>(v, b, n, [](const float(&x)[32], BlockQ8_0& k) {
    float most = 0;
    for (float f : x) most = std::max(most, std::fabs(f));
    const float d = most / 127.0f, inverse = d != 0 ? 1.0f / d : 0.0f;
    k.d = float_to_half(d);
    for (int i = 0; i < 32; ++i) k.q[i] = std::int8_t(within(std::round(x[i] * inverse), -127, 127));
  });
}
void encode_q4_0(const float* v, std::byte* b, std::int64_t n) {
  encode_blocks<BlockQ4_0, 32>(v, b, n, [](const float(&x)[32], BlockQ4_0& k) { pack_around_zero(x, 8, k); });
}
void encode_q5_0(const float* v, std::byte* b, std::int64_t n) {
  encode_blocks<BlockQ5_0, 32>(v, b, n, [](const float(&x)[32], BlockQ5_0& k) { pack_around_zero(x, 16, k); });
}
void encode_q4_1(const float* v, std::byte* b, std::int64_t n) {
  encode_blocks<BlockQ4_1, 32>(v, b, n, [](const float(&x)[32], BlockQ4_1& k) { pack_from_minimum(x, 15, k); });
}
void encode_q5_1(const float* v, std::byte* b, std::int64_t n) {
  encode_blocks<BlockQ5_1, 32>(v, b, n, [](const float(&x)[32], BlockQ5_1& k) { pack_from_minimum(x, 31, k); });
}
// The largest magnitude is found among the bits without the sign, where a NaN counts as the largest of all. A block
// that holds an infinity or a NaN keeps it as its d, so that products with it are NaN; one whose values are all below
// 2^-119 (the inverse of d would overflow) is zero.
void encode_q8_act(const float* v, std::byte* b, std::int64_t n) {
  encode_blocks<ActBlock, 32>(v, b, n, [](const float(&x)[32], ActBlock& k) {
    std::uint32_t most_bits = 0;
    for (float f : x) most_bits = std::max(most_bits, std::bit_cast<std::uint32_t>(f) & 0x7fffffffu);
    const float most = std::bit_cast<float>(most_bits);
    if (most < 0x1p-119f) return;
    k.d = most / 127.0f;
    const float inverse = 127.0f / most;
    for (int i = 0; i < 32 && std::isfinite(most); ++i) {
      k.q[i] = std::int8_t(nearest(x[i] * inverse, -127, 127));
      k.sum[i / 16] = std::int16_t(k.sum[i / 16] + k.q[i]);
    }
    k.d_sum = k.d * float(k.sum[0] + k.sum[1]);
  });
}

}  // namespace ridge
