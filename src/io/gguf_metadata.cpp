#include "io/gguf_metadata.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "io/quote.h"

namespace ridge::io {
namespace {

constexpr std::array<std::string_view, gguf_types> type_names = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                                                 "bool", "string", "array", "u64", "i64", "f64"};
constexpr std::array<std::size_t, gguf_types> type_bytes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

constexpr std::uint64_t longest_key = 65535;  // the format's own limit
constexpr std::uint64_t most_pairs = 1 << 20;
constexpr std::uint64_t most_copied = 1 << 26;  // elements of an array that a caller wants copied
constexpr int deepest_array = 4;

template <class T> T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

GgufType read_type(ByteReader& in, std::string_view key) {
  const std::uint32_t type = in.u32("a value's type");
  if (type >= gguf_types)
    in.fail(fmt::format("key {} has type {}; 0 to {} are known", quote(key), type, gguf_types - 1));
  return GgufType(type);
}

// Steps over strings and arrays of arrays. Each turn of the loop takes at least 8 bytes of the file, so a count that
// lies ends at the end of the file. No recursion: what is open is kept in a small stack.
void skip_elements(ByteReader& in, GgufType element, std::uint64_t count, std::string_view key) {
  struct Open {
    GgufType element;
    std::uint64_t left;
  };
  std::array<Open, deepest_array> open;
  int depth = 1;
  open[0] = {element, count};
  while (depth > 0) {
    Open& top = open[std::size_t(depth - 1)];
    if (top.left == 0) {
      --depth;
    } else if (const std::size_t size = scalar_bytes(top.element)) {
      if (top.left > in.left() / size)
        in.fail(fmt::format("key {} is an array of {} {}, more than the file holds", quote(key), top.left,
                            name(top.element)));
      in.take(top.left * size, "an array");
      top.left = 0;
    } else if (top.element == GgufType::string) {
      --top.left;
      in.take(in.u64("a string's length"), "a string");
    } else {
      --top.left;
      if (depth == deepest_array)
        in.fail(fmt::format("key {} nests arrays more than {} deep", quote(key), deepest_array));
      const GgufType inner = read_type(in, key);
      open[std::size_t(depth++)] = {inner, in.u64("an array's length")};
    }
  }
}

GgufValue read_pair(ByteReader& in) {
  const std::uint64_t at = in.position(), length = in.u64("a key's length");
  if (length == 0 || length > longest_key)
    in.fail_at(at, fmt::format("a key has {} bytes; 1 to {} are accepted", length, longest_key));
  GgufValue v{};
  v.key = in.text(length, "a key");
  v.type = v.element = read_type(in, v.key);
  v.count = 1;
  if (v.type == GgufType::array) {
    v.element = read_type(in, v.key);
    v.count = in.u64("an array's length");
  }
  v.offset = in.position();
  skip_elements(in, v.element, v.count, v.key);
  v.payload = in.since(v.offset);
  return v;
}

}  // namespace

std::string_view name(GgufType type) { return type_names[std::size_t(type)]; }
std::size_t scalar_bytes(GgufType type) { return type_bytes[std::size_t(type)]; }

std::string_view GgufStrings::iterator::operator*() const {
  return {reinterpret_cast<const char*>(at_ + 8), std::size_t(load<std::uint64_t>(at_))};
}
GgufStrings::iterator& GgufStrings::iterator::operator++() {
  at_ += 8 + load<std::uint64_t>(at_);
  --left_;
  return *this;
}
GgufStrings::iterator GgufStrings::iterator::operator++(int) {
  iterator before = *this;
  ++*this;
  return before;
}

GgufMetadata GgufMetadata::parse(ByteReader& in, std::uint64_t count, std::string_view file) {
  if (count > most_pairs || count > in.left() / 13)  // a pair takes 13 bytes at least
    in.fail(fmt::format("{} metadata pairs are claimed, more than the file can hold (and {} is the most)", count,
                        most_pairs));
  GgufMetadata m;
  m.file_ = file;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = in.position();
    m.values_.push_back(read_pair(in));
    const std::string_view key = m.values_.back().key;
    if (!m.by_key_.emplace(key, m.values_.size() - 1).second)
      in.fail_at(at, fmt::format("key {} is there twice", quote(key)));
  }
  return m;
}

const GgufValue* GgufMetadata::find(std::string_view key) const {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : &values_[found->second];
}

void GgufMetadata::fail(const GgufValue& value, const std::string& message) const {
  fail_input("{}: at byte {}: key {}: {}", file_, value.offset, quote(value.key), message);
}

const GgufValue& GgufMetadata::require(std::string_view key) const {
  const GgufValue* value = find(key);
  if (!value) fail_input("{}: the metadata has no key {}", file_, quote(key));
  return *value;
}

void GgufMetadata::check_scalar(const GgufValue& value, std::string_view wanted) const {
  if (value.type == GgufType::array)
    fail(value, fmt::format("is an array of {} {}; {} is accepted", value.count, name(value.element), wanted));
}

void GgufMetadata::check_numbers(const GgufValue& value) const {
  if (scalar_bytes(value.element) == 0) fail(value, fmt::format("holds {}; numbers are accepted", name(value.element)));
  if (value.count > most_copied) fail(value, fmt::format("has {} elements; {} is the most", value.count, most_copied));
}

std::int64_t GgufMetadata::integer(const GgufValue& value, std::uint64_t index) const {
  if (value.element == GgufType::string || value.element == GgufType::array)
    fail(value, fmt::format("is of type {}; an integer is accepted", name(value.element)));
  const std::byte* at = value.payload.data() + index * scalar_bytes(value.element);
  switch (value.element) {
    case GgufType::u8: return load<std::uint8_t>(at);
    case GgufType::i8: return load<std::int8_t>(at);
    case GgufType::u16: return load<std::uint16_t>(at);
    case GgufType::i16: return load<std::int16_t>(at);
    case GgufType::u32: return load<std::uint32_t>(at);
    case GgufType::i32: return load<std::int32_t>(at);
    case GgufType::i64: return load<std::int64_t>(at);
    case GgufType::u64: {
      const std::uint64_t n = load<std::uint64_t>(at);
      if (n > std::uint64_t(std::numeric_limits<std::int64_t>::max())) fail(value, fmt::format("is {}, too large", n));
      return std::int64_t(n);
    }
    default: fail(value, fmt::format("is of type {}; an integer is accepted", name(value.element)));
  }
}

double GgufMetadata::number(const GgufValue& value, std::uint64_t index) const {
  const std::byte* at = value.payload.data() + index * scalar_bytes(value.element);
  if (value.element == GgufType::f32) return double(load<float>(at));
  if (value.element == GgufType::f64) return load<double>(at);
  if (scalar_bytes(value.element) == 0 || value.element == GgufType::boolean)
    fail(value, fmt::format("is of type {}; a number is accepted", name(value.element)));
  return double(integer(value, index));
}

bool GgufMetadata::truth(const GgufValue& value, std::uint64_t index) const {
  if (value.element != GgufType::boolean)
    fail(value, fmt::format("is of type {}; a bool is accepted", name(value.element)));
  const auto byte = std::uint8_t(value.payload[index]);
  if (byte > 1) fail(value, fmt::format("is a bool of value {}; 0 and 1 are accepted", byte));
  return byte == 1;
}

std::int64_t GgufMetadata::get_i64(std::string_view key) const {
  const GgufValue& v = require(key);
  check_scalar(v, "one integer");
  return integer(v, 0);
}
std::uint64_t GgufMetadata::get_u64(std::string_view key) const {
  const std::int64_t n = get_i64(key);
  if (n < 0) fail(require(key), fmt::format("is {}; 0 or more is accepted", n));
  return std::uint64_t(n);
}
double GgufMetadata::get_f64(std::string_view key) const {
  const GgufValue& v = require(key);
  check_scalar(v, "one number");
  return number(v, 0);
}
bool GgufMetadata::get_bool(std::string_view key) const {
  const GgufValue& v = require(key);
  check_scalar(v, "one bool");
  return truth(v, 0);
}
std::string_view GgufMetadata::get_string(std::string_view key) const {
  const GgufValue& v = require(key);
  check_scalar(v, "one string");
  if (v.type != GgufType::string) fail(v, fmt::format("is of type {}; a string is accepted", name(v.type)));
  return *GgufStrings(v.payload.data(), 1).begin();
}

std::uint64_t GgufMetadata::get_u64(std::string_view key, std::uint64_t otherwise) const {
  return has(key) ? get_u64(key) : otherwise;
}
std::int64_t GgufMetadata::get_i64(std::string_view key, std::int64_t otherwise) const {
  return has(key) ? get_i64(key) : otherwise;
}
double GgufMetadata::get_f64(std::string_view key, double otherwise) const {
  return has(key) ? get_f64(key) : otherwise;
}
bool GgufMetadata::get_bool(std::string_view key, bool otherwise) const { return has(key) ? get_bool(key) : otherwise; }
std::string_view GgufMetadata::get_string(std::string_view key, std::string_view otherwise) const {
  return has(key) ? get_string(key) : otherwise;
}

std::vector<std::int64_t> GgufMetadata::get_i64s(std::string_view key) const {
  const GgufValue& v = require(key);
  check_numbers(v);
  std::vector<std::int64_t> out(v.count);
  for (std::uint64_t i = 0; i < v.count; ++i) out[i] = integer(v, i);
  return out;
}
std::vector<std::int32_t> GgufMetadata::get_i32s(std::string_view key) const {
  const GgufValue& v = require(key);
  check_numbers(v);
  std::vector<std::int32_t> out(v.count);
  for (std::uint64_t i = 0; i < v.count; ++i) {
    const std::int64_t n = integer(v, i);
    if (n != std::int32_t(n)) fail(v, fmt::format("element {} is {}, which 32 bits do not hold", i, n));
    out[i] = std::int32_t(n);
  }
  return out;
}
std::vector<float> GgufMetadata::get_f32s(std::string_view key) const {
  const GgufValue& v = require(key);
  check_numbers(v);
  std::vector<float> out(v.count);
  for (std::uint64_t i = 0; i < v.count; ++i) out[i] = float(number(v, i));
  return out;
}
std::vector<bool> GgufMetadata::get_bools(std::string_view key) const {
  const GgufValue& v = require(key);
  check_numbers(v);
  std::vector<bool> out(v.count);
  for (std::uint64_t i = 0; i < v.count; ++i) out[i] = truth(v, i);
  return out;
}
GgufStrings GgufMetadata::get_strings(std::string_view key) const {
  const GgufValue& v = require(key);
  if (v.element != GgufType::string) fail(v, fmt::format("holds {}; strings are accepted", name(v.element)));
  return {v.payload.data(), v.count};
}

namespace {

std::string element_text(GgufType type, const std::byte* at) {
  switch (type) {
    case GgufType::u8: return fmt::format("{}", load<std::uint8_t>(at));
    case GgufType::i8: return fmt::format("{}", load<std::int8_t>(at));
    case GgufType::u16: return fmt::format("{}", load<std::uint16_t>(at));
    case GgufType::i16: return fmt::format("{}", load<std::int16_t>(at));
    case GgufType::u32: return fmt::format("{}", load<std::uint32_t>(at));
    case GgufType::i32: return fmt::format("{}", load<std::int32_t>(at));
    case GgufType::u64: return fmt::format("{}", load<std::uint64_t>(at));
    case GgufType::i64: return fmt::format("{}", load<std::int64_t>(at));
    case GgufType::f32: return fmt::format("{}", load<float>(at));
    case GgufType::f64: return fmt::format("{}", load<double>(at));
    case GgufType::boolean: return load<std::uint8_t>(at) ? "true" : "false";
    default: return "";
  }
}

}  // namespace

std::string text_of(const GgufValue& v, std::size_t most) {
  if (v.type == GgufType::string) return quote(*GgufStrings(v.payload.data(), 1).begin());
  if (v.type != GgufType::array) return element_text(v.type, v.payload.data());
  if (v.element == GgufType::array) return fmt::format("[{} arrays]", v.count);
  std::string out = "[";
  const std::uint64_t shown = std::min<std::uint64_t>(v.count, most);
  if (v.element == GgufType::string) {
    std::uint64_t i = 0;
    for (auto s = GgufStrings(v.payload.data(), v.count).begin(); i < shown; ++s, ++i)
      out += (i ? ", " : "") + quote(*s);
  } else {
    for (std::uint64_t i = 0; i < shown; ++i)
      out += (i ? ", " : "") + element_text(v.element, v.payload.data() + i * scalar_bytes(v.element));
  }
  return out + (shown < v.count ? fmt::format(", ... {} in all]", v.count) : "]");
}

}  // namespace ridge::io
