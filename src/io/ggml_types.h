// The tensor types that GGUF files can name by number: all that ggml has or had, so that a file that ridge cannot run
// can still be shown. Numbers, names and sizes: ggml.h, ggml-common.h.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tensor/dtype.h"

namespace ridge::io {

struct GgmlType {
  std::uint32_t id;
  const char* name;
  int block_elems, block_bytes;
  std::optional<DType> dtype;  // empty: ridge has no such format
};

const GgmlType* ggml_type(std::uint32_t id);  // null: ggml has no such type either
const GgmlType* ggml_type_of(DType type);     // null: GGUF cannot hold it
const GgmlType* ggml_type_named(std::string_view name);
std::string ggml_type_name(std::uint32_t id);  // "Q4_K", or "type 77" for one that nobody knows

}  // namespace ridge::io
