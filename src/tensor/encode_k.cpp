// Encoders of the super-block formats Q4_K, Q5_K and Q6_K.
#include <cmath>

#include "tensor/blocks.h"
#include "tensor/decode.h"
#include "tensor/each_block.h"
#include "tensor/float16.h"
#include "tensor/scale_search.h"

namespace ridge {
namespace {

void put_scale_and_minimum(std::uint8_t (&scales)[12], int g, int scale,
                           int minimum) {  // k_scale and k_minimum, inverted
  if (g < 4) {
    scales[g] = std::uint8_t(scale);
    scales[g + 4] = std::uint8_t(minimum);
  } else {
    scales[g + 4] = std::uint8_t((scale & 15) | (minimum & 15) << 4);
    scales[g - 4] = std::uint8_t(scales[g - 4] | (scale >> 4) << 6);
    scales[g] = std::uint8_t(scales[g] | (minimum >> 4) << 6);
  }
}

// What Q4_K and Q5_K share: scales and minimums of the 8 groups, then the codes 0 .. top that go with them as stored.
template <class Block>
void fit_groups(const float (&x)[256], int top, Trials trials, Block& k, std::uint8_t (&q)[256]) {
  ScaleAndMinimum fit[8];
  float most_scale = 0, most_minimum = 0;
  for (int g = 0; g < 8; ++g) {
    const std::span<const float> group(x + 32 * g, 32);
    float sum = 0, weights[32];
    for (float v : group) sum += v * v;
    const float typical = std::sqrt(sum / 32);
    for (int i = 0; i < 32; ++i) weights[i] = typical + std::fabs(group[std::size_t(i)]);
    fit[g] = fit_scale_and_minimum(group, weights, top, trials, q + 32 * g);
    most_scale = std::max(most_scale, fit[g].scale);
    most_minimum = std::max(most_minimum, fit[g].minimum);
  }
  const float per_scale = most_scale > 0 ? 63.0f / most_scale : 0,
              per_minimum = most_minimum > 0 ? 63.0f / most_minimum : 0;
  for (int g = 0; g < 8; ++g)
    put_scale_and_minimum(k.scales, g, nearest(per_scale * fit[g].scale, 0, 63),
                          nearest(per_minimum * fit[g].minimum, 0, 63));
  k.d = float_to_half(most_scale / 63.0f);
  k.m = float_to_half(most_minimum / 63.0f);
  for (int i = 0; i < 256; ++i) {
    const float d = half_to_float(k.d) * float(k_scale(k.scales, i / 32));
    const float m = half_to_float(k.m) * float(k_minimum(k.scales, i / 32));
    if (d != 0) q[i] = std::uint8_t(nearest((x[i] + m) / d, 0, top));
  }
}

void put_nibbles(const std::uint8_t (&q)[256], std::uint8_t (&out)[128]) {
  for (int i = 0; i < 128; ++i)
    out[i] = std::uint8_t((q[i / 32 * 64 + i % 32] & 15) | (q[i / 32 * 64 + 32 + i % 32] & 15) << 4);
}

}  // namespace

void encode_q4_k(const float* v, std::byte* b, std::int64_t n) {
  encode_blocks<BlockQ4K, 256>(v, b, n, [](const float(&x)[256], BlockQ4K& k) {
    std::uint8_t q[256];
    fit_groups(x, 15, {-1.0f, 0.1f, 20}, k, q);
    put_nibbles(q, k.q);
  });
}

void encode_q5_k(const float* v, std::byte* b, std::int64_t n) {
  encode_blocks<BlockQ5K, 256>(v, b, n, [](const float(&x)[256], BlockQ5K& k) {
    std::uint8_t q[256];
    fit_groups(x, 31, {-0.5f, 0.1f, 15}, k, q);
    put_nibbles(q, k.q);
    for (int i = 0; i < 256; ++i) k.high[i % 32] = std::uint8_t(k.high[i % 32] | (q[i] >> 4) << (i / 32));
  });
}

void encode_q6_k(const float* v, std::byte* b, std::int64_t n) {
  encode_blocks<BlockQ6K, 256>(v, b, n, [](const float(&x)[256], BlockQ6K& k) {
    std::uint8_t q[256];
    float scale[16], extreme = 0;
    for (int g = 0; g < 16; ++g) {
      scale[g] = fit_scale(std::span<const float>(x + 16 * g, 16), 32, q + 16 * g);
      if (std::fabs(scale[g]) > std::fabs(extreme)) extreme = scale[g];
    }
    if (std::fabs(extreme) < 1e-15f) return;  // all zeros, as the block already is
    const float per_scale = -128.0f / extreme;
    k.d = float_to_half(1 / per_scale);
    for (int g = 0; g < 16; ++g) k.scales[g] = std::int8_t(nearest(per_scale * scale[g], -128, 127));
    for (int i = 0; i < 256; ++i) {
      const float d = half_to_float(k.d) * float(k.scales[i / 16]);
      if (d != 0) q[i] = std::uint8_t(nearest(x[i] / d, -32, 31) + 32);
    }
    for (int i = 0; i < 256; ++i) {
      std::uint8_t& low = k.q[i / 128 * 64 + i % 64];
      low = std::uint8_t(low | (q[i] & 15) << (i % 128 / 64 * 4));
      std::uint8_t& high = k.high[i / 128 * 32 + i % 32];
      high = std::uint8_t(high | (q[i] >> 4) << (i % 128 / 32 * 2));
    }
  });
}

}  // namespace ridge
