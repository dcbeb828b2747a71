// The formats of 32 elements and one scale: Q8_0, Q4_0, Q4_1, and the activations' own.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "tensor/blocks.h"
#include "tensor/decode.h"
#include "tensor/float16.h"

namespace ridge {
namespace {

// Calls body(block, first element, elements in this block) for each block of a row.
template <class Block, class F> void each_block(const std::byte* bytes, std::int64_t elems, F body) {
  for (std::int64_t first = 0; first < elems; first += 32, bytes += sizeof(Block)) {
    Block block;
    std::memcpy(&block, bytes, sizeof block);
    body(block, first, int(std::min<std::int64_t>(32, elems - first)));
  }
}

// Calls body(values, block) for each block of a row, the values padded with zeros; then stores the block.
template <class Block, class F> void fill_blocks(const float* values, std::byte* bytes, std::int64_t elems, F body) {
  for (std::int64_t first = 0; first < elems; first += 32, bytes += sizeof(Block)) {
    float x[32] = {};
    std::copy_n(values + first, std::min<std::int64_t>(32, elems - first), x);
    Block block{};
    body(x, block);
    std::memcpy(bytes, &block, sizeof block);
  }
}

int nibble(const std::uint8_t (&q)[16], int i) { return i < 16 ? q[i] & 15 : q[i - 16] >> 4; }

}  // namespace

void decode_q8_0(const std::byte* b, float* v, std::int64_t n) {
  each_block<BlockQ8_0>(b, n, [&](const BlockQ8_0& k, std::int64_t at, int count) {
    for (int i = 0; i < count; ++i) v[at + i] = half_to_float(k.d) * float(k.q[i]);
  });
}
void decode_q4_0(const std::byte* b, float* v, std::int64_t n) {
  each_block<BlockQ4_0>(b, n, [&](const BlockQ4_0& k, std::int64_t at, int count) {
    for (int i = 0; i < count; ++i) v[at + i] = half_to_float(k.d) * float(nibble(k.q, i) - 8);
  });
}
void decode_q4_1(const std::byte* b, float* v, std::int64_t n) {
  each_block<BlockQ4_1>(b, n, [&](const BlockQ4_1& k, std::int64_t at, int count) {
    for (int i = 0; i < count; ++i) v[at + i] = half_to_float(k.d) * float(nibble(k.q, i)) + half_to_float(k.m);
  });
}
void decode_q8_act(const std::byte* b, float* v, std::int64_t n) {
  each_block<ActBlock>(b, n, [&](const ActBlock& k, std::int64_t at, int count) {
    for (int i = 0; i < count; ++i) v[at + i] = k.d * float(k.q[i]);
  });
}

void encode_q8_0(const float* v, std::byte* b, std::int64_t n) {
  fill_blocks<BlockQ8_0>(v, b, n, [](const float (&x)[32], BlockQ8_0& k) {
    float most = 0;
    for (float f : x) most = std::max(most, std::fabs(f));
    const float d = most / 127.0f, inverse = d != 0 ? 1.0f / d : 0.0f;
    k.d = float_to_half(d);
    for (int i = 0; i < 32; ++i) k.q[i] = std::int8_t(std::round(x[i] * inverse));
  });
}
void encode_q4_0(const float* v, std::byte* b, std::int64_t n) {
  fill_blocks<BlockQ4_0>(v, b, n, [](const float (&x)[32], BlockQ4_0& k) {
    float extreme = 0;  // the value of the largest magnitude, with its sign, becomes -8
    for (float f : x)
      if (std::fabs(f) > std::fabs(extreme)) extreme = f;
    const float d = extreme / -8.0f, inverse = d != 0 ? 1.0f / d : 0.0f;
    k.d = float_to_half(d);
    auto code = [&](float f) { return std::clamp(int(f * inverse + 8.5f), 0, 15); };
    for (int i = 0; i < 16; ++i) k.q[i] = std::uint8_t(code(x[i]) | code(x[i + 16]) << 4);
  });
}
void encode_q4_1(const float* v, std::byte* b, std::int64_t n) {
  fill_blocks<BlockQ4_1>(v, b, n, [](const float (&x)[32], BlockQ4_1& k) {
    const auto [low, high] = std::minmax_element(std::begin(x), std::end(x));
    const float d = (*high - *low) / 15.0f, inverse = d != 0 ? 1.0f / d : 0.0f, m = *low;
    k.d = float_to_half(d), k.m = float_to_half(m);
    auto code = [&](float f) { return std::clamp(int((f - m) * inverse + 0.5f), 0, 15); };
    for (int i = 0; i < 16; ++i) k.q[i] = std::uint8_t(code(x[i]) | code(x[i + 16]) << 4);
  });
}
void encode_q8_act(const float* v, std::byte* b, std::int64_t n) {
  fill_blocks<ActBlock>(v, b, n, [](const float (&x)[32], ActBlock& k) {
    float most = 0;
    for (float f : x) most = std::max(most, std::fabs(f));
    const float inverse = most != 0 ? 127.0f / most : 0.0f;
    k.d = most / 127.0f;
    for (int i = 0; i < 32; ++i) {
      k.q[i] = std::int8_t(std::nearbyint(x[i] * inverse));
      k.sum[i / 16] = std::int16_t(k.sum[i / 16] + k.q[i]);
    }
  });
}

}  // namespace ridge
