// safetensors files, one or sharded by an index. Format: huggingface.co/docs/safetensors.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/mapped_file.h"
#include "tensor/dtype.h"

namespace ridge::io {

struct SafetensorsTensor {
  std::string name;
  std::string type;                 // as the file spells it: "BF16"
  std::optional<DType> dtype;       // empty: ridge has no such type
  std::vector<std::int64_t> shape;  // outermost first; empty for a scalar
  std::uint64_t offset, bytes;      // in its file
};

struct SafetensorsHeader {
  std::vector<SafetensorsTensor> tensors;                     // in the order of their bytes
  std::vector<std::pair<std::string, std::string>> metadata;  // "__metadata__"
};

// Parses and checks the header of one file (at most 100 MB, as the reference has it): JSON with no key twice, every
// offset, dtype, shape and size in agreement, and the tensors covering the data without overlap, gap or rest.
SafetensorsHeader parse_safetensors(std::span<const std::byte> bytes, std::string_view file);

struct SafetensorsPart {
  MappedFile file;
  SafetensorsHeader header;
};

// One file: {the file}. A path that ends in .index.json: its shards, which must be plain names of files beside it and
// hold what the index says; a tensor in two of them is refused.
std::vector<SafetensorsPart> open_safetensors(const std::filesystem::path& path);

// The names of the shards that an index names, each once, in order; none is looked for.
std::vector<std::string> safetensors_shards(const std::filesystem::path& index);

// Whether the bytes start as a safetensors file does: a header length that fits, then '{'.
bool looks_like_safetensors(std::span<const std::byte> bytes);

}  // namespace ridge::io
