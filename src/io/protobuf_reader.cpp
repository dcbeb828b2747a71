#include "io/protobuf_reader.h"

#include <cstring>

#include "base/error.h"

namespace ridge::io {

void ProtobufReader::fail(std::string_view what) const { fail_input("{}: at byte {}: {}", file_, base_ + at_, what); }

std::uint64_t ProtobufReader::read_varint() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    if (at_ == message_.size()) fail("a number that the message ends in");
    const auto b = static_cast<std::uint8_t>(message_[at_++]);
    if (shift == 63 && b > 1) fail("a number of more than 64 bits");
    value |= static_cast<std::uint64_t>(b & 0x7F) << shift;
    if (b < 0x80) return value;
  }
  fail("a number of more than 64 bits");
}

std::span<const std::byte> ProtobufReader::take(std::uint64_t size) {
  if (size > message_.size() - at_) fail("a field that is longer than what is left of its message");
  const auto taken = message_.subspan(at_, static_cast<std::size_t>(size));
  at_ += static_cast<std::size_t>(size);
  return taken;
}

bool ProtobufReader::next() {
  if (at_ == message_.size()) return false;
  const std::uint64_t tag = read_varint();
  if (tag >> 3 == 0 || tag >> 3 > 0x1FFFFFFF) fail("a field number that there cannot be");
  field_ = static_cast<std::uint32_t>(tag >> 3);
  switch (tag & 7) {
    case 0: number_ = read_varint(); break;
    case 1: payload_ = take(8); break;
    case 2: payload_ = take(read_varint()); break;
    case 5: payload_ = take(4); break;
    default: fail("a kind of field that is not in use");
  }
  wire_ = static_cast<Wire>(tag & 7);
  return true;
}

void ProtobufReader::want(Wire wire) const {
  if (wire_ != wire)
    fail_input("{}: before byte {}: field {} is of another kind than it should be", file_, base_ + at_, field_);
}

std::uint64_t ProtobufReader::varint() const {
  want(Wire::varint);
  return number_;
}

float ProtobufReader::real() const {
  want(Wire::fixed32);
  float v;
  std::memcpy(&v, payload_.data(), sizeof v);
  return v;
}

std::string_view ProtobufReader::text() const {
  want(Wire::bytes);
  return {reinterpret_cast<const char*>(payload_.data()), payload_.size()};
}

ProtobufReader ProtobufReader::message() const {
  want(Wire::bytes);
  return {payload_, file_, base_ + static_cast<std::size_t>(payload_.data() - message_.data())};
}

}  // namespace ridge::io
