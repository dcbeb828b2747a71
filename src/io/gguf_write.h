// Writing a GGUF file (version 3) as a stream: metadata and tensor list first, then the tensors' bytes in the order
// they were declared, in pieces of any size. Nothing larger than a piece is held in memory.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/gguf_metadata.h"
#include "io/output_file.h"
#include "io/safetensors_write.h"

namespace ridge::io {

// The metadata of a file to be written, already in the file's form.
class GgufPairs {
 public:
  void put_u8(std::string_view key, std::uint8_t v);
  void put_u16(std::string_view key, std::uint16_t v);
  void put_u32(std::string_view key, std::uint32_t v);
  void put_i32(std::string_view key, std::int32_t v);
  void put_u64(std::string_view key, std::uint64_t v);
  void put_f32(std::string_view key, float v);
  void put_bool(std::string_view key, bool v);
  void put_string(std::string_view key, std::string_view v);
  void put_bools(std::string_view key, const std::vector<bool>& v);
  void put_i32s(std::string_view key, std::span<const std::int32_t> v);
  void put_u32s(std::string_view key, std::span<const std::uint32_t> v);
  void put_f32s(std::string_view key, std::span<const float> v);
  void put_strings(std::string_view key, std::span<const std::string> v);
  void put(const GgufValue& value);  // a pair of another file, as it is

  std::uint64_t count() const { return count_; }
  const std::string& bytes() const { return bytes_; }

 private:
  void key(std::string_view key, GgufType type);
  void array(std::string_view key, GgufType element, std::uint64_t count);
  template <class T> void raw(T v) { bytes_.append(reinterpret_cast<const char*>(&v), sizeof v); }
  void string(std::string_view v);

  std::string bytes_;
  std::uint64_t count_ = 0;
};

class GgufWriter {
 public:
  static constexpr std::uint64_t default_alignment = 32;

  // Writes header, metadata and tensor list. Fails (input) on a dtype that GGUF cannot hold, on a rank that is not 1 to
  // 4 and on rows that are not whole blocks. With another alignment than 32, `pairs` must not say `general.alignment`:
  // it is added.
  GgufWriter(const std::filesystem::path& path, const GgufPairs& pairs, std::vector<TensorSpec> tensors,
             std::uint64_t alignment = default_alignment);
  void append(std::span<const std::byte> bytes);  // the next bytes of the tensors, across borders if that suits
  void finish();                                  // fails (bug) when bytes are missing

 private:
  void pad();
  void skip_to_unfinished();  // over the padding between tensors

  OutputFile out_;
  std::vector<std::uint64_t> sizes_;
  std::size_t tensor_ = 0;     // the one being written
  std::uint64_t written_ = 0;  // of it
  std::uint64_t alignment_;
};

}  // namespace ridge::io
