// Row decoders and encoders of every format, as the table in dtype.cpp lists them. Exact and plain: the reference
// of each format. Fast paths live with their kernels.
//
// Encoders expect finite values; NaN and infinity give some block, never undefined behaviour. Their results are bit for
// bit those of ggml's reference encoders, so a file made here and one made there are the same.
#pragma once
#include <cstddef>
#include <cstdint>

namespace ridge {

#define RIDGE_DECODER(type) void decode_##type(const std::byte* blocks, float* values, std::int64_t elems);
#define RIDGE_FORMAT(type) \
  RIDGE_DECODER(type)      \
  void encode_##type(const float* values, std::byte* blocks, std::int64_t elems);
// clang-format off
RIDGE_FORMAT(f32) RIDGE_FORMAT(f16) RIDGE_FORMAT(bf16) RIDGE_FORMAT(f8_e4m3)
RIDGE_FORMAT(q8_0) RIDGE_FORMAT(q4_0) RIDGE_FORMAT(q4_1) RIDGE_FORMAT(q5_0) RIDGE_FORMAT(q5_1) RIDGE_FORMAT(q8_act)
RIDGE_FORMAT(mxfp4) RIDGE_FORMAT(q4_k) RIDGE_FORMAT(q5_k) RIDGE_FORMAT(q6_k)
RIDGE_DECODER(q2_k) RIDGE_DECODER(q3_k) RIDGE_DECODER(iq4_nl) RIDGE_DECODER(iq4_xs)
// clang-format on
#undef RIDGE_FORMAT
#undef RIDGE_DECODER

}  // namespace ridge
