// Row decoders and encoders of every format, as the table in dtype.cpp lists them. Exact and plain: the reference
// of each format. Fast paths live with their kernels.
#pragma once
#include <cstddef>
#include <cstdint>

namespace ridge {

#define RIDGE_FORMAT(type)                                                              \
  void decode_##type(const std::byte* blocks, float* values, std::int64_t elems);       \
  void encode_##type(const float* values, std::byte* blocks, std::int64_t elems);
RIDGE_FORMAT(f32) RIDGE_FORMAT(f16) RIDGE_FORMAT(bf16) RIDGE_FORMAT(f8_e4m3)
RIDGE_FORMAT(q8_0) RIDGE_FORMAT(q4_0) RIDGE_FORMAT(q4_1) RIDGE_FORMAT(q8_act)
#undef RIDGE_FORMAT

}  // namespace ridge
