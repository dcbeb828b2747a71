#include "tensor/dtype.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tensor/float16.h"

namespace ridge {

TEST(dtype, half_round_trips_every_pattern) {
  for (int h = 0; h < 65536; ++h) {
    const float f = half_to_float(std::uint16_t(h));
    if (std::isnan(f)) EXPECT_TRUE(std::isnan(half_to_float(float_to_half(f))));
    else EXPECT_EQ(float_to_half(f), h);
  }
}

TEST(dtype, f8_round_trips_every_pattern) {
  for (int v = 0; v < 256; ++v) {
    const float f = f8_e4m3_to_float(std::uint8_t(v));
    if (std::isnan(f)) EXPECT_TRUE(std::isnan(f8_e4m3_to_float(float_to_f8_e4m3(f))));
    else EXPECT_EQ(float_to_f8_e4m3(f), v);
  }
}

TEST(dtype, names_are_found_in_any_case) {
  EXPECT_EQ(dtype_named("q4_k"), DType::q4_k);
  EXPECT_EQ(dtype_named("BF16"), DType::bf16);
  EXPECT_FALSE(dtype_named("Q9_Z"));
}

}  // namespace ridge
