#include "io/byte_reader.h"

#include <bit>
#include <cstring>

#include "base/error.h"

namespace ridge::io {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the files are little-endian, and so are the machines of ridge");

template <class T> T load(std::span<const std::byte> bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace

std::uint8_t ByteReader::u8(std::string_view what) { return load<std::uint8_t>(take(1, what)); }
std::uint32_t ByteReader::u32(std::string_view what) { return load<std::uint32_t>(take(4, what)); }
std::uint64_t ByteReader::u64(std::string_view what) { return load<std::uint64_t>(take(8, what)); }

std::span<const std::byte> ByteReader::take(std::uint64_t length, std::string_view what) {
  last_ = at_;
  if (length > left())
    fail(fmt::format("{} needs {} bytes, but only {} are left: the file is cut short or its lengths are wrong", what,
                     length, left()));
  at_ += length;
  return bytes_.subspan(last_, length);
}

std::string_view ByteReader::text(std::uint64_t length, std::string_view what) {
  const auto bytes = take(length, what);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void ByteReader::fail_at(std::uint64_t offset, const std::string& message) const {
  fail_input("{}: at byte {}: {}", file_, offset, message);
}

}  // namespace ridge::io
