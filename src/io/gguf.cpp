#include "io/gguf.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <set>

#include "base/error.h"
#include "io/quote.h"

namespace ridge::io {
namespace {

constexpr std::uint64_t most_header_bytes = std::uint64_t(1) << 30;
constexpr std::uint64_t longest_name = 1024;  // the format says 64; files of other makers hold longer ones
constexpr std::uint64_t most_tensors = 1 << 20;
constexpr std::uint64_t least_tensor_info = 8 + 1 + 4 + 8 + 4 + 8;

void read_magic_and_version(ByteReader& in, GgufHeader& header) {
  const std::string_view magic = in.text(4, "the magic bytes");
  if (magic != "GGUF") in.fail(fmt::format("starts with {}; a GGUF file starts with 'GGUF'", quote(magic)));
  header.version = in.u32("the version");
  if (header.version != 0 && (header.version & 0xffffu) == 0)
    in.fail("is a big-endian GGUF file; ridge reads little-endian ones (convert it on the machine that made it)");
  if (header.version == 1)
    in.fail("is of GGUF version 1; versions 2 and 3 are accepted (convert it anew from its source)");
  if (header.version != 2 && header.version != 3)
    in.fail(fmt::format("is of GGUF version {}; 2 and 3 are accepted", header.version));
}

std::uint64_t read_alignment(const GgufMetadata& metadata) {
  const std::uint64_t alignment = metadata.get_u64("general.alignment", 32);
  if (!std::has_single_bit(alignment) || alignment > (std::uint64_t(1) << 31))
    metadata.fail(*metadata.find("general.alignment"),
                  fmt::format("is {}; a power of two up to 2^31 is accepted", alignment));
  return alignment;
}

void read_shape(ByteReader& in, GgufTensor& t) {
  const std::uint32_t rank = in.u32("a tensor's rank");
  if (rank < 1 || rank > 4)
    in.fail(fmt::format("tensor {} has {} dimensions; 1 to 4 are accepted", quote(t.name), rank));
  t.rank = int(rank);
  std::uint64_t elems = 1;
  for (int i = t.rank - 1; i >= 0; --i) {
    const std::uint64_t size = in.u64("a tensor's dimension");
    if (size == 0) in.fail(fmt::format("tensor {} has a dimension of 0", quote(t.name)));
    if (size > std::uint64_t(std::numeric_limits<std::int64_t>::max()) / elems)
      in.fail(fmt::format("tensor {} has more than 2^63 elements", quote(t.name)));
    elems *= size;
    t.shape[std::size_t(i)] = std::int64_t(size);
  }
}

// Bytes of a tensor, where its type is known.
std::optional<std::uint64_t> tensor_bytes(ByteReader& in, const GgufTensor& t) {
  const GgmlType* type = ggml_type(t.type);
  if (!type) return std::nullopt;
  const std::int64_t row = t.shape[std::size_t(t.rank - 1)];
  if (row % type->block_elems != 0)
    in.fail(fmt::format("tensor {} of type {} has rows of {} elements, not a multiple of its block of {}",
                        quote(t.name), type->name, row, type->block_elems));
  std::uint64_t blocks = std::uint64_t(row / type->block_elems);
  for (int i = 0; i + 1 < t.rank; ++i)
    blocks *= std::uint64_t(t.shape[std::size_t(i)]);  // at most the elements: no overflow
  if (blocks > std::numeric_limits<std::uint64_t>::max() / std::uint64_t(type->block_bytes))
    in.fail(fmt::format("tensor {} has more than 2^64 bytes", quote(t.name)));
  return blocks * std::uint64_t(type->block_bytes);
}

GgufTensor read_tensor(ByteReader& in) {
  GgufTensor t{};
  const std::uint64_t length = in.u64("a tensor's name's length");
  if (length == 0 || length > longest_name)
    in.fail(fmt::format("a tensor's name has {} bytes; 1 to {} are accepted", length, longest_name));
  t.name = in.text(length, "a tensor's name");
  read_shape(in, t);
  t.type = in.u32("a tensor's type");
  t.bytes = tensor_bytes(in, t);
  t.offset = in.u64("a tensor's offset");  // from the start of the data; place_tensors adds that
  return t;
}

// Bytes that a tensor takes at least: one where the size of its type is not known.
std::uint64_t least_bytes(const GgufTensor& t) { return t.bytes.value_or(1); }

// Turns offsets into places in the file and checks them.
void place_tensors(GgufHeader& header, std::uint64_t file_bytes, std::string_view file) {
  const std::uint64_t room = file_bytes - std::min(file_bytes, header.data_offset);
  for (GgufTensor& t : header.tensors) {
    if (t.offset % header.alignment != 0)
      fail_input("{}: tensor {} has offset {}, not a multiple of the alignment {}", file, quote(t.name), t.offset,
                 header.alignment);
    if (t.offset > room || least_bytes(t) > room - t.offset)
      fail_input(
          "{}: tensor {} of {} bytes at offset {} leaves the data, which has {} bytes from byte {} on: the file is cut "
          "short or the tensor's shape is wrong",
          file, quote(t.name), least_bytes(t), t.offset, room, header.data_offset);
    t.offset += header.data_offset;
  }
}

void refuse_overlaps(const GgufHeader& header, std::string_view file) {
  std::vector<const GgufTensor*> order;
  for (const GgufTensor& t : header.tensors) order.push_back(&t);
  std::sort(order.begin(), order.end(), [](auto a, auto b) { return a->offset < b->offset; });
  for (std::size_t i = 1; i < order.size(); ++i) {
    const GgufTensor &before = *order[i - 1], &after = *order[i];
    if (before.offset + least_bytes(before) > after.offset)
      fail_input("{}: tensors {} and {} overlap at byte {}", file, quote(before.name), quote(after.name), after.offset);
  }
}

}  // namespace

bool looks_like_gguf(std::span<const std::byte> bytes) {
  return bytes.size() >= 4 && std::memcmp(bytes.data(), "GGUF", 4) == 0;
}

GgufHeader parse_gguf(std::span<const std::byte> bytes, std::string_view file) {
  ByteReader in(bytes.first(std::min<std::uint64_t>(bytes.size(), most_header_bytes)), file);
  GgufHeader header;
  read_magic_and_version(in, header);
  const std::uint64_t tensors = in.u64("the number of tensors");
  const std::uint64_t pairs = in.u64("the number of metadata pairs");
  header.metadata = GgufMetadata::parse(in, pairs, file);
  header.alignment = read_alignment(header.metadata);
  if (tensors > most_tensors || tensors > in.left() / least_tensor_info)
    in.fail_at(8, fmt::format("{} tensors are claimed, more than the file can hold (and {} is the most)", tensors,
                              most_tensors));
  std::set<std::string_view> names;
  for (std::uint64_t i = 0; i < tensors; ++i) {
    const std::uint64_t at = in.position();
    header.tensors.push_back(read_tensor(in));
    if (!names.insert(header.tensors.back().name).second)
      in.fail_at(at, fmt::format("tensor {} is there twice", quote(header.tensors.back().name)));
  }
  header.data_offset = (in.position() + header.alignment - 1) / header.alignment * header.alignment;
  place_tensors(header, bytes.size(), file);
  refuse_overlaps(header, file);
  return header;
}

}  // namespace ridge::io
