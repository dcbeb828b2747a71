#include "tensor/quantize_act.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "tensor/blocks.h"
#include "tensor/decode.h"
#include "tensor/dtype.h"

namespace ridge {
namespace {

std::vector<hw::Isa> sets_here() {
  std::vector<hw::Isa> sets{{}};
  if (hw::isa().avx2) sets.push_back({.avx2 = true});
  if (hw::isa().avx512) sets.push_back({.avx2 = true, .avx512 = true});
  return sets;
}

void expect_same_bytes(const std::vector<float>& x) {
  const std::int64_t n = std::int64_t(x.size());
  std::vector<std::byte> want(std::size_t(row_bytes(DType::q8_act, n)));
  encode_q8_act(x.data(), want.data(), n);
  for (const hw::Isa& isa : sets_here()) {
    std::vector<std::byte> got(want.size(), std::byte(0xcc));
    quantize_row(x.data(), n, got.data(), isa);
    EXPECT_EQ(std::memcmp(want.data(), got.data(), want.size()), 0)
        << n << " values, avx2 " << isa.avx2 << ", avx512 " << isa.avx512;
  }
}

}  // namespace

TEST(quantize_act, every_instruction_set_gives_the_same_bytes) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  for (int n : {1, 15, 31, 32, 33, 100, 576, 1536})
    for (float scale : {1.0f, 1e-3f, 1e30f, 1e-30f, 1e-37f, 1e-41f}) {
      std::vector<float> x(static_cast<std::size_t>(n));
      for (float& v : x) v = scale * normal(random);
      expect_same_bytes(x);
    }
  for (int i = 0; i < 2000; ++i) {  // values at halves of a step: how ties are rounded shows
    std::vector<float> x(32);
    for (float& v : x) v = float(int(random() % 255) - 127) / 2;
    x[random() % 32] = 127;
    expect_same_bytes(x);
  }
}

TEST(quantize_act, what_is_not_finite_makes_the_block_nan) {
  for (float bad : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(), std::nanf("")}) {
    std::vector<float> x(64, 0.5f), back(64);
    x[37] = bad;
    expect_same_bytes(x);
    std::vector<std::byte> blocks(std::size_t(row_bytes(DType::q8_act, 64)));
    quantize_row(x.data(), 64, blocks.data());
    decode_q8_act(blocks.data(), back.data(), 64);
    EXPECT_FLOAT_EQ(back[31], 0.5f);
    for (int i = 32; i < 64; ++i) EXPECT_TRUE(std::isnan(back[std::size_t(i)]));
  }
}

TEST(quantize_act, values_come_back_to_half_a_step_and_sums_are_theirs) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  std::vector<float> x(32);
  for (float& v : x) v = normal(random);
  ActBlock block;
  quantize_row(x.data(), 32, reinterpret_cast<std::byte*>(&block));
  int sums[2] = {};
  for (int i = 0; i < 32; ++i) {
    EXPECT_NEAR(block.d * float(block.q[i]), x[std::size_t(i)], block.d * 0.5001f);
    sums[i / 16] += block.q[i];
  }
  EXPECT_EQ(block.sum[0], sums[0]);
  EXPECT_EQ(block.sum[1], sums[1]);
  EXPECT_FLOAT_EQ(block.d_sum, block.d * float(sums[0] + sums[1]));
}

}  // namespace ridge
