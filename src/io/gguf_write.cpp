#include "io/gguf_write.h"

#include <algorithm>

#include "base/error.h"
#include "io/ggml_types.h"
#include "io/quote.h"

namespace ridge::io {

void GgufPairs::string(std::string_view v) {
  raw(std::uint64_t(v.size()));
  bytes_ += v;
}
void GgufPairs::key(std::string_view key, GgufType type) {
  string(key);
  raw(std::uint32_t(type));
  ++count_;
}
void GgufPairs::array(std::string_view k, GgufType element, std::uint64_t count) {
  key(k, GgufType::array);
  raw(std::uint32_t(element));
  raw(count);
}

void GgufPairs::put_u8(std::string_view k, std::uint8_t v) { key(k, GgufType::u8), raw(v); }
void GgufPairs::put_u16(std::string_view k, std::uint16_t v) { key(k, GgufType::u16), raw(v); }
void GgufPairs::put_u32(std::string_view k, std::uint32_t v) { key(k, GgufType::u32), raw(v); }
void GgufPairs::put_i32(std::string_view k, std::int32_t v) { key(k, GgufType::i32), raw(v); }
void GgufPairs::put_u64(std::string_view k, std::uint64_t v) { key(k, GgufType::u64), raw(v); }
void GgufPairs::put_f32(std::string_view k, float v) { key(k, GgufType::f32), raw(v); }
void GgufPairs::put_bool(std::string_view k, bool v) { key(k, GgufType::boolean), raw(std::uint8_t(v)); }
void GgufPairs::put_string(std::string_view k, std::string_view v) { key(k, GgufType::string), string(v); }
void GgufPairs::put_bools(std::string_view k, const std::vector<bool>& v) {
  array(k, GgufType::boolean, v.size());
  for (bool b : v) raw(std::uint8_t(b));
}
void GgufPairs::put_i32s(std::string_view k, std::span<const std::int32_t> v) {
  array(k, GgufType::i32, v.size());
  for (std::int32_t n : v) raw(n);
}
void GgufPairs::put_u32s(std::string_view k, std::span<const std::uint32_t> v) {
  array(k, GgufType::u32, v.size());
  for (std::uint32_t n : v) raw(n);
}
void GgufPairs::put_f32s(std::string_view k, std::span<const float> v) {
  array(k, GgufType::f32, v.size());
  for (float n : v) raw(n);
}
void GgufPairs::put_strings(std::string_view k, std::span<const std::string> v) {
  array(k, GgufType::string, v.size());
  for (const std::string& s : v) string(s);
}
void GgufPairs::put(const GgufValue& v) {
  if (v.type == GgufType::array) array(v.key, v.element, v.count);
  else key(v.key, v.type);
  bytes_.append(reinterpret_cast<const char*>(v.payload.data()), v.payload.size());
}

namespace {

const GgmlType* type_of(const TensorSpec& t) { return t.foreign ? t.foreign : ggml_type_of(t.dtype); }

// A tensor's entry in the list, by the same encoding as the pairs.
void list_tensor(std::string& out, const TensorSpec& t, std::uint64_t offset) {
  const auto raw = [&](auto v) { out.append(reinterpret_cast<const char*>(&v), sizeof v); };
  raw(std::uint64_t(t.name.size()));
  out += t.name;
  raw(std::uint32_t(t.shape.size()));
  for (auto dim = t.shape.rbegin(); dim != t.shape.rend(); ++dim) raw(std::uint64_t(*dim));  // innermost first
  raw(type_of(t)->id);
  raw(offset);
}

void check_spec(const TensorSpec& t, const std::string& file) {
  const GgmlType* type = type_of(t);
  if (!type) fail_input("{}: GGUF cannot hold {} (tensor {})", file, name(t.dtype), quote(t.name));
  if (t.shape.empty() || t.shape.size() > 4)
    fail_input("{}: tensor {} has {} dimensions; GGUF holds 1 to 4", file, quote(t.name), t.shape.size());
  if (t.shape.back() % type->block_elems != 0)
    fail_input("{}: tensor {} has rows of {} elements; {} needs a multiple of {}", file, quote(t.name), t.shape.back(),
               type->name, type->block_elems);
}

std::uint64_t aligned(std::uint64_t n, std::uint64_t alignment) { return (n + alignment - 1) / alignment * alignment; }

}  // namespace

GgufWriter::GgufWriter(const std::filesystem::path& path, const GgufPairs& given, std::vector<TensorSpec> tensors,
                       std::uint64_t alignment)
    : out_(path), alignment_(alignment) {
  GgufPairs pairs = given;
  if (alignment != default_alignment) pairs.put_u32("general.alignment", std::uint32_t(alignment));
  std::string list;
  std::uint64_t offset = 0;
  for (const TensorSpec& t : tensors) {
    check_spec(t, out_.name());
    list_tensor(list, t, offset);
    sizes_.push_back(stored_bytes(t));
    offset += aligned(sizes_.back(), alignment);
  }
  const std::uint32_t version = 3;
  const std::uint64_t counts[] = {tensors.size(), pairs.count()};
  out_.write("GGUF");
  out_.write(std::as_bytes(std::span(&version, 1)));
  out_.write(std::as_bytes(std::span(counts)));
  out_.write(pairs.bytes());
  out_.write(list);
  pad();
}

void GgufWriter::pad() { out_.write_zeros(aligned(out_.position(), alignment_) - out_.position()); }

void GgufWriter::skip_to_unfinished() {
  while (tensor_ < sizes_.size() && written_ == sizes_[tensor_]) {
    pad();
    ++tensor_;
    written_ = 0;
  }
}

void GgufWriter::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (tensor_ == sizes_.size()) fail_bug("{}: {} bytes too many for the tensors declared", out_.name(), bytes.size());
    const auto piece = bytes.first(std::min<std::uint64_t>(bytes.size(), sizes_[tensor_] - written_));
    out_.write(piece);
    written_ += piece.size();
    bytes = bytes.subspan(piece.size());
    skip_to_unfinished();
  }
}

void GgufWriter::finish() {
  skip_to_unfinished();
  if (tensor_ != sizes_.size())
    fail_bug("{}: {} of {} declared tensors are whole", out_.name(), tensor_, sizes_.size());
  out_.finish();
}

}  // namespace ridge::io
