// Decoders of the super-block formats Q2_K to Q6_K.
#include "tensor/blocks.h"
#include "tensor/decode.h"
#include "tensor/each_block.h"
#include "tensor/float16.h"

namespace ridge {
namespace {

// The two bits of value i, in bytes that hold four values each, 32 bytes to 128 values.
int two_bits(const std::uint8_t* q, int i) { return (q[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2)) & 3; }

// The nibble of value i of Q4_K and Q5_K.
int group_nibble(const std::uint8_t* q, int i) { return (q[i / 64 * 32 + i % 32] >> (i % 64 / 32 * 4)) & 15; }

}  // namespace

void decode_q2_k(const std::byte* b, float* v, std::int64_t n) {
  decode_blocks<BlockQ2K, 256>(b, v, n, [](const BlockQ2K& k, float(&x)[256]) {
    for (int i = 0; i < 256; ++i) {
      const float d = half_to_float(k.d) * float(k.scales[i / 16] & 15);
      const float m = half_to_float(k.m) * float(k.scales[i / 16] >> 4);
      x[i] = d * float(two_bits(k.q, i)) - m;
    }
  });
}

void decode_q3_k(const std::byte* b, float* v, std::int64_t n) {
  decode_blocks<BlockQ3K, 256>(b, v, n, [](const BlockQ3K& k, float(&x)[256]) {
    for (int i = 0; i < 256; ++i) {
      const float d = half_to_float(k.d) * float(q3_scale(k.scales, i / 16) - 32);
      const int high = (k.high[i % 32] >> (i / 32)) & 1;
      x[i] = d * float(two_bits(k.q, i) + 4 * high - 4);
    }
  });
}

void decode_q4_k(const std::byte* b, float* v, std::int64_t n) {
  decode_blocks<BlockQ4K, 256>(b, v, n, [](const BlockQ4K& k, float(&x)[256]) {
    for (int i = 0; i < 256; ++i) {
      const float d = half_to_float(k.d) * float(k_scale(k.scales, i / 32));
      const float m = half_to_float(k.m) * float(k_minimum(k.scales, i / 32));
      x[i] = d * float(group_nibble(k.q, i)) - m;
    }
  });
}

void decode_q5_k(const std::byte* b, float* v, std::int64_t n) {
  decode_blocks<BlockQ5K, 256>(b, v, n, [](const BlockQ5K& k, float(&x)[256]) {
    for (int i = 0; i < 256; ++i) {
      const float d = half_to_float(k.d) * float(k_scale(k.scales, i / 32));
      const float m = half_to_float(k.m) * float(k_minimum(k.scales, i / 32));
      const int high = (k.high[i % 32] >> (i / 32)) & 1;
      x[i] = d * float(group_nibble(k.q, i) | high << 4) - m;
    }
  });
}

void decode_q6_k(const std::byte* b, float* v, std::int64_t n) {
  decode_blocks<BlockQ6K, 256>(b, v, n, [](const BlockQ6K& k, float(&x)[256]) {
    for (int i = 0; i < 256; ++i) {
      const float d = half_to_float(k.d) * float(k.scales[i / 16]);
      const int low = (k.q[i / 128 * 64 + i % 64] >> (i % 128 / 64 * 4)) & 15;
      x[i] = d * float((low | two_bits(k.high, i) << 4) - 32);
    }
  });
}

}  // namespace ridge
