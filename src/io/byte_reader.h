// Reads little-endian fields from bytes, one after another. Every read is checked; an error names the file, the offset
// and the field.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ridge::io {

class ByteReader {
 public:
  ByteReader(std::span<const std::byte> bytes, std::string_view file) : bytes_(bytes), file_(file) {}

  std::uint8_t u8(std::string_view what);
  std::uint32_t u32(std::string_view what);
  std::uint64_t u64(std::string_view what);
  std::span<const std::byte> take(std::uint64_t length, std::string_view what);
  std::string_view text(std::uint64_t length, std::string_view what);

  std::uint64_t position() const { return at_; }
  std::span<const std::byte> since(std::uint64_t start) const { return bytes_.subspan(start, at_ - start); }
  std::uint64_t left() const { return bytes_.size() - at_; }

  // "FILE: at byte N: message". The offset is that of the last field read, or the one given.
  [[noreturn]] void fail(const std::string& message) const { fail_at(last_, message); }
  [[noreturn]] void fail_at(std::uint64_t offset, const std::string& message) const;

 private:
  std::span<const std::byte> bytes_;
  std::string_view file_;
  std::uint64_t at_ = 0, last_ = 0;
};

}  // namespace ridge::io
