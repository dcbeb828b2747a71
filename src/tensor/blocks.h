// The block layouts, as GGUF files hold them. Little-endian; `d` and `m` are IEEE half floats unless said otherwise.
// Each value is given by the formula beside its struct; the decoders (decode_*.cpp) follow it, kernels unpack by it.
// Sources: ggml-common.h and the reference code of ggml-quants.c; MXFP4: OCP Microscaling Formats 1.0.
#pragma once
#include <cstdint>

namespace ridge {

using half_bits = std::uint16_t;

// Blocks of 32 values. Nibbles: value i of the first 16 is in the low half of q[i], value i + 16 in its high half.
struct BlockQ8_0 {  // x[i] = d * q[i]
  half_bits d;
  std::int8_t q[32];
};
struct BlockQ4_0 {  // x[i] = d * (low nibble of q[i] - 8), x[i + 16] = d * (high nibble of q[i] - 8)
  half_bits d;
  std::uint8_t q[16];
};
struct BlockQ4_1 {  // x[i] = d * (low nibble of q[i]) + m, x[i + 16] = d * (high nibble of q[i]) + m
  half_bits d, m;
  std::uint8_t q[16];
};
struct BlockQ5_0 {  // x[i] = d * (nibble i + 16 * bit i of high - 16)
  half_bits d;
  std::uint8_t high[4];  // bit i is bit i % 8 of high[i / 8]
  std::uint8_t q[16];
};
struct BlockQ5_1 {  // x[i] = d * (nibble i + 16 * bit i of high) + m
  half_bits d, m;
  std::uint8_t high[4];
  std::uint8_t q[16];
};
struct BlockIq4Nl {  // x[i] = d * iq4_values[nibble i]
  half_bits d;
  std::uint8_t q[16];
};
struct BlockMxfp4 {  // x[i] = 2^(e - 128) * mxfp4_values[nibble i]: 128, not 127, as the table has twice the E2M1
                     // values
  std::uint8_t e;
  std::uint8_t q[16];
};

// Super-blocks of 256 values: groups of 16 or 32 with a small integer scale each (and minimum), in units of d (and m).
struct BlockQ2K {  // group g = i / 16: x[i] = d * (scales[g] & 15) * q - m * (scales[g] >> 4)
  std::uint8_t scales[16];
  std::uint8_t q[64];  // value i: bits 2s and 2s + 1 of q[32 * (i / 128) + i % 32], s = i % 128 / 32
  half_bits d, m;
};
struct BlockQ3K {           // group g = i / 16: x[i] = d * (scale g - 32) * (q + 4 * bit - 4)
  std::uint8_t high[32];    // value i: bit i / 32 of high[i % 32]
  std::uint8_t q[64];       // as in Q2_K
  std::uint8_t scales[12];  // 6 bits each: the low 4 of scale g in half g / 8 of scales[g % 8],
  half_bits d;              // its high 2 in bits 2 * (g / 4) of scales[8 + g % 4]
};
struct BlockQ4K {  // group g = i / 32: x[i] = d * scale(g) * q - m * minimum(g)
  half_bits d, m;
  std::uint8_t scales[12];  // k_scale and k_minimum
  std::uint8_t q[128];      // value i: half g % 2 of q[32 * (g / 2) + i % 32]
};
struct BlockQ5K {  // as Q4_K, with q + 16 * bit
  half_bits d, m;
  std::uint8_t scales[12];
  std::uint8_t high[32];  // value i: bit g of high[i % 32]
  std::uint8_t q[128];
};
struct BlockQ6K {         // group g = i / 16: x[i] = d * scales[g] * (q + 16 * bits - 32)
  std::uint8_t q[128];    // value i: half i % 128 / 64 of q[64 * (i / 128) + i % 64]
  std::uint8_t high[64];  // value i: bits 2s and 2s + 1 of high[32 * (i / 128) + i % 32], s = i % 128 / 32
  std::int8_t scales[16];
  half_bits d;
};
struct BlockIq4Xs {  // group g = i / 32: x[i] = d * (scale g - 32) * iq4_values[nibble]
  half_bits d;
  std::uint16_t scales_high;   // the high 2 bits of scale g in bits 2g
  std::uint8_t scales_low[4];  // the low 4 in half g % 2 of scales_low[g / 2]
  std::uint8_t q[128];         // group g is q[16 * g ...] with nibbles as in a block of 32
};

inline constexpr std::int8_t iq4_values[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                               1,    13,   25,  38,  53,  69,  89,  113};
inline constexpr std::int8_t mxfp4_values[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

// The 6-bit scales and minimums of Q4_K and Q5_K: group 0 to 3 in the low bits of byte g (scale) and g + 4 (minimum);
// of group 4 to 7 the low 4 bits are the halves of byte g + 4, the high 2 are the top bits of bytes g - 4 and g.
inline int k_scale(const std::uint8_t (&scales)[12], int g) {
  return g < 4 ? scales[g] & 63 : (scales[g + 4] & 15) | (scales[g - 4] >> 6) << 4;
}
inline int k_minimum(const std::uint8_t (&scales)[12], int g) {
  return g < 4 ? scales[g + 4] & 63 : (scales[g + 4] >> 4) | (scales[g] >> 6) << 4;
}
inline int q3_scale(const std::uint8_t (&scales)[12], int g) {  // 0 to 63; 32 is to be taken off
  return ((scales[g % 8] >> (g / 8 * 4)) & 15) | ((scales[8 + g % 4] >> (g / 4 * 2)) & 3) << 4;
}

struct ActBlock {  // x[i] = d * q[i]; q in -127..127
  float d;
  float d_sum;          // d * (sum[0] + sum[1]): what formats with one minimum multiply
  std::int16_t sum[2];  // sums of q[0..15] and q[16..31]: what formats with an offset, or two minimums, multiply
  std::int8_t q[32];
};
static_assert(sizeof(BlockQ8_0) == 34 && sizeof(BlockQ4_0) == 18 && sizeof(BlockQ4_1) == 20 && sizeof(ActBlock) == 44);
static_assert(sizeof(BlockQ5_0) == 22 && sizeof(BlockQ5_1) == 24 && sizeof(BlockIq4Nl) == 18 &&
              sizeof(BlockMxfp4) == 17);
static_assert(sizeof(BlockQ2K) == 84 && sizeof(BlockQ3K) == 110 && sizeof(BlockQ4K) == 144 && sizeof(BlockQ5K) == 176);
static_assert(sizeof(BlockQ6K) == 210 && sizeof(BlockIq4Xs) == 136);

}  // namespace ridge
