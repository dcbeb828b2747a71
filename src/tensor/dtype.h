// What one element, or one block of elements, is made of. A block format is one row of the table in dtype.cpp.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace ridge {

enum class DType : std::uint8_t {
  f32,
  f16,
  bf16,
  f8_e4m3,
  i32,
  u8,
  q8_0,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q2_k,
  q3_k,
  q4_k,
  q5_k,
  q6_k,
  iq4_nl,
  iq4_xs,
  mxfp4,
  q8_act,  // activations quantized on the fly, 32 to a block (tensor/blocks.h: ActBlock)
};

// Decodes or encodes `elems` values (a row: whole blocks, the last one possibly padded with zeros).
using DecodeRow = void (*)(const std::byte* blocks, float* values, std::int64_t elems);
using EncodeRow = void (*)(const float* values, std::byte* blocks, std::int64_t elems);

struct DTypeInfo {
  DType id;
  std::string_view name;  // as GGUF and the field spell it: "Q4_K", "BF16"
  int block_elems;        // elements to a block, 1 for plain types
  int block_bytes;
  DecodeRow decode;  // to float32, exactly; null where nobody reads values of it
  EncodeRow encode;  // null: ridge has no encoder for it
};

const DTypeInfo& info(DType type);
std::span<const DTypeInfo> all_dtypes();
std::optional<DType> dtype_named(std::string_view name);  // any case
inline std::string_view name(DType type) { return info(type).name; }
inline bool is_block(DType type) { return info(type).block_elems > 1; }

// Bytes of one row of `elems` elements: whole blocks.
std::int64_t row_bytes(DType type, std::int64_t elems);

}  // namespace ridge
