// The block layouts, as GGUF files hold them. Little-endian; `d` and `m` are IEEE half floats unless said otherwise.
// Each value is given by the formula beside its struct; dtype.cpp decodes by it, kernels unpack by it.
#pragma once
#include <cstdint>

namespace ridge {

using half_bits = std::uint16_t;

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
struct ActBlock {  // x[i] = d * q[i]; q in -127..127
  float d;
  std::int16_t sum[2];  // sums of q[0..15] and q[16..31]: what formats with a minimum or an offset multiply
  std::int8_t q[32];
};
static_assert(sizeof(BlockQ8_0) == 34 && sizeof(BlockQ4_0) == 18 && sizeof(BlockQ4_1) == 20 && sizeof(ActBlock) == 40);

}  // namespace ridge
