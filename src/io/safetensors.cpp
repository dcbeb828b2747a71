#include "io/safetensors.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "io/byte_reader.h"
#include "io/json_bounded.h"
#include "io/quote.h"

namespace ridge::io {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t most_header_bytes = 100'000'000;
constexpr std::size_t most_rank = 16;
constexpr JsonLimits header_limits{.bytes = most_header_bytes, .values = 16'000'000, .depth = 8};

struct Type {
  const char* name;
  unsigned bits;
  std::optional<DType> dtype;
};
constexpr Type types[] = {
    {"BOOL", 8, {}},      {"F4", 4, {}},           {"F6_E2M3", 6, {}},        {"F6_E3M2", 6, {}},
    {"U8", 8, DType::u8}, {"I8", 8, {}},           {"F8_E5M2", 8, {}},        {"F8_E4M3", 8, DType::f8_e4m3},
    {"F8_E8M0", 8, {}},   {"F8_E4M3FNUZ", 8, {}},  {"F8_E5M2FNUZ", 8, {}},    {"I16", 16, {}},
    {"U16", 16, {}},      {"F16", 16, DType::f16}, {"BF16", 16, DType::bf16}, {"I32", 32, DType::i32},
    {"U32", 32, {}},      {"F32", 32, DType::f32}, {"C64", 64, {}},           {"F64", 64, {}},
    {"I64", 64, {}},      {"U64", 64, {}},
};

const Type* type_named(std::string_view name) {
  for (const Type& t : types)
    if (name == t.name) return &t;
  return nullptr;
}

// Reads one entry of the header; `refuse` throws with the file and the tensor's name.
class Entry {
 public:
  Entry(std::string_view file, std::string_view name, const Json& value) : file_(file), name_(name), value_(value) {}

  SafetensorsTensor read(std::uint64_t data_offset, std::uint64_t data_bytes) const {
    if (!value_.is_object()) refuse("is not an object with dtype, shape and data_offsets");
    SafetensorsTensor t{.name = std::string(name_)};
    const Json& type = field("dtype");
    if (!type.is_string()) refuse("has a dtype that is not a string");
    t.type = type.get_ref<const std::string&>();
    t.shape = shape();
    const Json& range = field("data_offsets");
    if (!range.is_array() || range.size() != 2) refuse("has data_offsets that are not [begin, end]");
    const std::uint64_t begin = natural(range[0], "data_offsets"), end = natural(range[1], "data_offsets");
    if (begin > end || end > data_bytes)
      refuse(fmt::format("has data_offsets [{}, {}], but the data is [0, {}]: the file is cut short or wrong", begin,
                         end, data_bytes));
    t.offset = data_offset + begin;
    t.bytes = end - begin;
    check_size(t);
    return t;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const { fail_input("{}: tensor {} {}", file_, quote(name_), why); }

  const Json& field(const char* key) const {
    const auto found = value_.find(key);
    if (found == value_.end()) refuse(fmt::format("has no {}", key));
    return *found;
  }

  std::uint64_t natural(const Json& v, const char* what) const {
    if (!v.is_number_unsigned()) refuse(fmt::format("has {} that are not whole numbers from 0 on", what));
    return v.get<std::uint64_t>();
  }

  std::vector<std::int64_t> shape() const {
    const Json& list = field("shape");
    if (!list.is_array() || list.size() > most_rank)
      refuse(fmt::format("has a shape that is not a list of at most {} sizes", most_rank));
    std::vector<std::int64_t> out;
    for (const Json& size : list) {
      const std::uint64_t n = natural(size, "sizes");
      if (n > std::uint64_t(std::numeric_limits<std::int64_t>::max())) refuse("has a size that 63 bits do not hold");
      out.push_back(std::int64_t(n));
    }
    return out;
  }

  void check_size(SafetensorsTensor& t) const {
    std::uint64_t elems = 1;
    for (std::int64_t n : t.shape) {
      if (n != 0 && elems > std::numeric_limits<std::uint64_t>::max() / 64 / std::uint64_t(n))
        refuse("has too many elements");
      elems *= std::uint64_t(n);
    }
    const Type* type = type_named(t.type);
    if (!type) return;  // listed, never read
    t.dtype = type->dtype;
    if (elems * type->bits != t.bytes * 8 || t.bytes > std::numeric_limits<std::uint64_t>::max() / 8)
      refuse(fmt::format("of dtype {} and {} elements takes {} bits, but data_offsets give it {} bytes", t.type, elems,
                         elems * type->bits, t.bytes));
  }

  std::string_view file_, name_;
  const Json& value_;
};

void check_cover(const SafetensorsHeader& header, std::uint64_t data_offset, std::uint64_t file_bytes,
                 std::string_view file) {
  std::uint64_t at = data_offset;
  for (const SafetensorsTensor& t : header.tensors) {
    if (t.offset != at)
      fail_input("{}: tensor {} starts at byte {}, where {} is expected: tensors {}", file, quote(t.name), t.offset, at,
                 t.offset < at ? "overlap" : "leave a gap");
    at += t.bytes;
  }
  if (at != file_bytes)
    fail_input("{}: {} bytes after the last tensor, at byte {}, belong to none", file, file_bytes - at, at);
}

}  // namespace

bool looks_like_safetensors(std::span<const std::byte> bytes) {
  if (bytes.size() < 10) return false;
  const std::uint64_t length = ByteReader(bytes, "").u64("");
  return length >= 2 && length <= std::min<std::uint64_t>(bytes.size() - 8, most_header_bytes) &&
         bytes[8] == std::byte('{');
}

SafetensorsHeader parse_safetensors(std::span<const std::byte> bytes, std::string_view file) {
  ByteReader in(bytes, file);
  const std::uint64_t length = in.u64("the header's length");
  if (length > most_header_bytes)
    in.fail(fmt::format("the header has {} bytes; {} is the most", length, most_header_bytes));
  const std::string_view text = in.text(length, "the header");
  if (!text.starts_with('{')) in.fail("the header does not start with '{': this is no safetensors file");
  const Json json = parse_json(text, fmt::format("{}: in the header, which starts at byte 8", file), header_limits);
  const std::uint64_t data_offset = in.position();

  SafetensorsHeader header;
  for (const auto& [name, value] : json.items()) {
    if (name != "__metadata__") {
      header.tensors.push_back(Entry(file, name, value).read(data_offset, in.left()));
      continue;
    }
    if (!value.is_object()) fail_input("{}: __metadata__ is not an object of strings", file);
    for (const auto& [key, text_value] : value.items()) {
      if (!text_value.is_string()) fail_input("{}: __metadata__ key {} is not a string", file, quote(key));
      header.metadata.emplace_back(key, text_value.get<std::string>());
    }
  }
  std::sort(header.tensors.begin(), header.tensors.end(), [](const auto& a, const auto& b) {
    return a.offset != b.offset ? a.offset < b.offset : a.bytes < b.bytes;  // empty ones first
  });
  check_cover(header, data_offset, bytes.size(), file);
  return header;
}

}  // namespace ridge::io
