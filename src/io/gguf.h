// GGUF files, version 2 and 3, one or split into parts. Format: ggml/docs/gguf.md.
#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/ggml_types.h"
#include "io/gguf_metadata.h"
#include "io/mapped_file.h"

namespace ridge::io {

struct GgufTensor {
  std::string_view name;               // in the mapping
  std::uint32_t type;                  // ggml's number; ggml_type(type) is null for one that nobody knows
  int rank;                            // 1 to 4
  std::array<std::int64_t, 4> shape;   // outermost first (the file says innermost first)
  std::uint64_t offset;                // in its file
  std::optional<std::uint64_t> bytes;  // empty: the type's size is not known
};

// Everything before the tensors' data. Holds views into the bytes it was parsed from.
struct GgufHeader {
  std::uint32_t version = 0;
  std::uint64_t alignment = 32;
  std::uint64_t data_offset = 0;
  GgufMetadata metadata;
  std::vector<GgufTensor> tensors;  // in the file's order
};

// Parses and checks the header of one file: every length and offset, alignment, shapes (no dimension of 0, rows of
// whole blocks), that tensors are aligned, in the file, of different names, and do not overlap. Big-endian files and
// version 1 are refused by name; tensors of types that ridge does not have are listed. The header may have 1 GiB at
// most.
GgufHeader parse_gguf(std::span<const std::byte> bytes, std::string_view file);

struct GgufPart {
  MappedFile file;
  GgufHeader header;
};

struct GgufFile {
  std::vector<GgufPart> parts;  // in order; one for a file that is not split
  const GgufMetadata& metadata() const { return parts.front().header.metadata; }
};

struct GgufPartName {  // PREFIX-00002-of-00005.gguf
  std::string prefix;
  std::uint64_t number;  // from 1
  std::uint64_t count;
};
std::optional<GgufPartName> gguf_part_name(std::string_view file_name);

// Opens a file, and where it is part of a split model (metadata `split.count`, name `...-00002-of-00005.gguf`) all
// parts, whichever was named. Fails when a part is missing or belongs to another split.
GgufFile open_gguf(const std::filesystem::path& path);

// Whether the bytes start as a GGUF file does.
bool looks_like_gguf(std::span<const std::byte> bytes);

}  // namespace ridge::io
