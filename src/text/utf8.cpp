#include "text/utf8.h"

#include <cstring>

namespace ridge::text {

namespace {

// The range of the second byte after each lead byte (Unicode, table 3-7); later bytes are 80..BF.
struct Lead {
  std::uint32_t size;
  unsigned char low, high;
};

Lead lead_of(unsigned char b) {
  if (b < 0x80) return {1, 0, 0};
  if (b < 0xC2) return {0, 0, 0};
  if (b < 0xE0) return {2, 0x80, 0xBF};
  if (b < 0xF0)
    return {3, static_cast<unsigned char>(b == 0xE0 ? 0xA0 : 0x80),
            static_cast<unsigned char>(b == 0xED ? 0x9F : 0xBF)};
  if (b < 0xF5)
    return {4, static_cast<unsigned char>(b == 0xF0 ? 0x90 : 0x80),
            static_cast<unsigned char>(b == 0xF4 ? 0x8F : 0xBF)};
  return {0, 0, 0};
}

}  // namespace

Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const Lead lead = lead_of(byte(0));
  if (lead.size == 1) return {byte(0), 1, true, false};
  if (lead.size == 0) return {0xFFFD, 1, false, false};
  char32_t code = byte(0) & (0xFF >> (lead.size + 1));
  for (std::uint32_t i = 1; i < lead.size; ++i) {
    if (i == text.size()) return {0xFFFD, i, false, true};
    const unsigned char b = byte(i);
    if (b < (i == 1 ? lead.low : 0x80) || b > (i == 1 ? lead.high : 0xBF)) return {0xFFFD, i, false, false};
    code = code << 6 | (b & 0x3F);
  }
  return {code, lead.size, true, false};
}

char32_t next_character(std::string_view text, std::size_t& at) {
  const Character c = first_character(text.substr(at));
  at += c.size;
  return c.code;
}

void append_character(std::string& out, char32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | c >> 12);
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | c >> 18);
    out += static_cast<char>(0x80 | (c >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
}

namespace {

// How many bytes at the start are ASCII; eight at a time, because most text is.
std::size_t ascii_prefix(std::string_view text) {
  std::size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + i, 8);
    if (word & 0x8080808080808080u) break;
  }
  while (i < text.size() && static_cast<unsigned char>(text[i]) < 0x80) ++i;
  return i;
}

}  // namespace

bool is_ascii(std::string_view text) { return ascii_prefix(text) == text.size(); }

bool is_valid_utf8(std::string_view text) {
  while (!text.empty()) {
    text.remove_prefix(ascii_prefix(text));
    while (!text.empty() && static_cast<unsigned char>(text[0]) >= 0x80) {
      const Character c = first_character(text);
      if (!c.valid) return false;
      text.remove_prefix(c.size);
    }
  }
  return true;
}

std::string mended(std::string_view text) {
  std::string out;
  Utf8Stream stream;
  stream.push(text, out);
  stream.finish(out);
  return out;
}

bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

void Utf8Stream::push(std::string_view bytes, std::string& out) {
  while (size_ != 0 && !bytes.empty()) {  // complete what is held, byte by byte
    held_[size_++] = bytes[0];
    const Character c = first_character({held_, size_});
    if (c.cut) {
      bytes.remove_prefix(1);
    } else if (c.valid) {
      out.append(held_, size_);
      bytes.remove_prefix(1);
      size_ = 0;
    } else {  // the new byte does not belong to it: it starts something else
      out += replacement_character;
      size_ = 0;
    }
  }
  while (!bytes.empty()) {
    const std::size_t plain = ascii_prefix(bytes);
    out.append(bytes.substr(0, plain));
    bytes.remove_prefix(plain);
    if (bytes.empty()) return;
    const Character c = first_character(bytes);
    if (c.cut) {
      std::memcpy(held_, bytes.data(), bytes.size());
      size_ = static_cast<std::uint32_t>(bytes.size());
      return;
    }
    if (c.valid) out.append(bytes.substr(0, c.size));
    else out += replacement_character;
    bytes.remove_prefix(c.size);
  }
}

void Utf8Stream::finish(std::string& out) {
  if (size_ != 0) out += replacement_character;
  size_ = 0;
}

}  // namespace ridge::text
