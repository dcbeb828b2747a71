// The formats whose codes go through a table of values: IQ4_NL, IQ4_XS, MXFP4.
#include <cmath>

#include "tensor/blocks.h"
#include "tensor/decode.h"
#include "tensor/each_block.h"
#include "tensor/float16.h"

namespace ridge {
namespace {

// 2^(e - 128), exactly, subnormal for e < 2.
float mxfp4_scale(std::uint8_t e) {
  return std::bit_cast<float>(e < 2 ? 0x00200000u << e : std::uint32_t(e - 1) << 23);
}

int nearest_mxfp4(float x, float scale) {
  int best = 0;
  for (int i = 1; i < 16; ++i)
    if (std::fabs(float(mxfp4_values[i]) * scale - x) < std::fabs(float(mxfp4_values[best]) * scale - x)) best = i;
  return best;
}

}  // namespace

void decode_iq4_nl(const std::byte* b, float* v, std::int64_t n) {
  decode_blocks<BlockIq4Nl, 32>(b, v, n, [](const BlockIq4Nl& k, float(&x)[32]) {
    for (int i = 0; i < 32; ++i) x[i] = half_to_float(k.d) * float(iq4_values[nibble(k.q, i)]);
  });
}

void decode_iq4_xs(const std::byte* b, float* v, std::int64_t n) {
  decode_blocks<BlockIq4Xs, 256>(b, v, n, [](const BlockIq4Xs& k, float(&x)[256]) {
    for (int g = 0; g < 8; ++g) {
      const int low = (k.scales_low[g / 2] >> (g % 2 * 4)) & 15, high = (k.scales_high >> (2 * g)) & 3;
      const float d = half_to_float(k.d) * float((low | high << 4) - 32);
      for (int i = 0; i < 32; ++i) x[32 * g + i] = d * float(iq4_values[nibble(k.q + 16 * g, i)]);
    }
  });
}

void decode_mxfp4(const std::byte* b, float* v, std::int64_t n) {
  decode_blocks<BlockMxfp4, 32>(b, v, n, [](const BlockMxfp4& k, float(&x)[32]) {
    for (int i = 0; i < 32; ++i) x[i] = mxfp4_scale(k.e) * float(mxfp4_values[nibble(k.q, i)]);
  });
}

void encode_mxfp4(const float* v, std::byte* b, std::int64_t n) {
  encode_blocks<BlockMxfp4, 32>(v, b, n, [](const float(&x)[32], BlockMxfp4& k) {
    float most = 0;
    for (float f : x) most = std::max(most, std::fabs(f));
    // The largest E2M1 value is 6 = 1.5 * 2^2: the exponent of the largest value, less 2 (OCP MX, section 6.3).
    k.e = most > 0 ? std::uint8_t(within(std::floor(std::log2(most)) - 2 + 127, 0, 254)) : 0;
    const float scale = mxfp4_scale(k.e);
    for (int i = 0; i < 16; ++i)
      k.q[i] = std::uint8_t(nearest_mxfp4(x[i], scale) | nearest_mxfp4(x[i + 16], scale) << 4);
  });
}

}  // namespace ridge
