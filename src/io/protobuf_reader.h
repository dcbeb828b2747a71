// The wire format of protocol buffers, read field by field (protobuf.dev/programming-guides/encoding). No step is taken
// outside the bytes, whatever they say.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace ridge::io {

class ProtobufReader {
 public:
  // `base` is where the message starts in the file, for errors.
  ProtobufReader(std::span<const std::byte> message, std::string_view file, std::size_t base = 0)
      : message_(message), file_(file), base_(base) {}

  // Moves to the next field; false at the end. Fails (input), naming file and byte, on a broken one.
  bool next();

  std::uint32_t field() const { return field_; }
  // The value; fails where the field is of another kind.
  std::uint64_t varint() const;
  bool truth() const { return varint() != 0; }
  float real() const;  // fixed 32 bits
  std::string_view text() const;
  ProtobufReader message() const;

 private:
  enum class Wire { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };
  std::uint64_t read_varint();
  std::span<const std::byte> take(std::uint64_t size);
  void want(Wire wire) const;
  [[noreturn]] void fail(std::string_view what) const;

  std::span<const std::byte> message_;
  std::string_view file_;
  std::size_t base_, at_ = 0;
  std::uint32_t field_ = 0;
  Wire wire_ = Wire::varint;
  std::uint64_t number_ = 0;
  std::span<const std::byte> payload_;
};

}  // namespace ridge::io
