// The key-value part of a GGUF file, left where it lies: a value is a place in the mapping, read when it is asked for.
// Whoever holds a GgufMetadata, or a view it gave, must keep the file mapped.
#pragma once
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/byte_reader.h"

namespace ridge::io {

enum class GgufType : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };
inline constexpr std::uint32_t gguf_types = 13;
std::string_view name(GgufType type);
std::size_t scalar_bytes(GgufType type);  // 0 for strings and arrays

struct GgufValue {
  std::string_view key;
  GgufType type;                       // `array` for arrays
  GgufType element;                    // of an array; the type itself otherwise
  std::uint64_t count;                 // elements; 1 for what is not an array
  std::span<const std::byte> payload;  // the value, or the elements, as stored; strings with their lengths before them
  std::uint64_t offset;                // where the payload starts in the file
};

// The strings of an array, walked one by one: no table of them is made. Ends and lengths were checked by the parser.
class GgufStrings {
 public:
  class iterator {
   public:
    using value_type = std::string_view;
    using difference_type = std::ptrdiff_t;
    iterator() = default;
    iterator(const std::byte* at, std::uint64_t left) : at_(at), left_(left) {}
    std::string_view operator*() const;
    iterator& operator++();
    iterator operator++(int);
    bool operator==(const iterator& o) const { return left_ == o.left_; }

   private:
    const std::byte* at_ = nullptr;
    std::uint64_t left_ = 0;
  };
  GgufStrings() = default;
  GgufStrings(const std::byte* first, std::uint64_t count) : first_(first), count_(count) {}
  std::uint64_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  iterator begin() const { return {first_, count_}; }
  iterator end() const { return {nullptr, 0}; }

 private:
  const std::byte* first_ = nullptr;
  std::uint64_t count_ = 0;
};

class GgufMetadata {
 public:
  // Reads `count` pairs. Fails on a key that is empty, too long or there twice, on an unknown type, on lengths that
  // leave the file, and on arrays nested more than 4 deep.
  static GgufMetadata parse(ByteReader& in, std::uint64_t count, std::string_view file);

  std::span<const GgufValue> all() const { return values_; }  // in the file's order
  const GgufValue* find(std::string_view key) const;          // null: not there
  bool has(std::string_view key) const { return find(key) != nullptr; }
  const std::string& file() const { return file_; }

  // The value of a key. Any integer type serves where it can hold the value; floats also take integers. A missing key
  // or a value of another kind is an error (input) that names file, offset and key; with `otherwise`, a missing key is
  // that.
  std::uint64_t get_u64(std::string_view key) const;
  std::uint64_t get_u64(std::string_view key, std::uint64_t otherwise) const;
  std::int64_t get_i64(std::string_view key) const;
  std::int64_t get_i64(std::string_view key, std::int64_t otherwise) const;
  double get_f64(std::string_view key) const;
  double get_f64(std::string_view key, double otherwise) const;
  bool get_bool(std::string_view key) const;
  bool get_bool(std::string_view key, bool otherwise) const;
  std::string_view get_string(std::string_view key) const;
  std::string_view get_string(std::string_view key, std::string_view otherwise) const;

  // Arrays, copied out; a lone number is an array of one (head counts are given either way). At most 2^26 elements.
  std::vector<std::int64_t> get_i64s(std::string_view key) const;
  std::vector<std::int32_t> get_i32s(std::string_view key) const;
  std::vector<float> get_f32s(std::string_view key) const;
  std::vector<bool> get_bools(std::string_view key) const;
  GgufStrings get_strings(std::string_view key) const;

  // "FILE: at byte N: key 'K': message"
  [[noreturn]] void fail(const GgufValue& value, const std::string& message) const;

 private:
  const GgufValue& require(std::string_view key) const;
  std::int64_t integer(const GgufValue& value, std::uint64_t index) const;
  double number(const GgufValue& value, std::uint64_t index) const;
  bool truth(const GgufValue& value, std::uint64_t index) const;
  void check_scalar(const GgufValue& value, std::string_view wanted) const;
  void check_numbers(const GgufValue& value) const;

  std::string file_;
  std::vector<GgufValue> values_;
  std::map<std::string_view, std::size_t> by_key_;  // a tree: no choice of keys makes it slow
};

// One value as text for people: strings quoted, arrays as their first `most` elements and a count.
std::string text_of(const GgufValue& value, std::size_t most = 8);

}  // namespace ridge::io
