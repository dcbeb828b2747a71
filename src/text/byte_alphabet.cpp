#include "text/byte_alphabet.h"

#include <array>
#include <cstdint>

#include "text/utf8.h"

namespace ridge::text {

namespace {

constexpr char32_t alphabet_end = 0x144;  // the last of the 68 bytes that are not printable is U+0143

constexpr bool is_printable(int b) { return (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE; }

struct Alphabet {
  std::array<char32_t, 256> characters{};
  std::array<std::int16_t, alphabet_end> bytes{};
};

constexpr Alphabet make_alphabet() {
  Alphabet a;
  for (auto& b : a.bytes) b = -1;
  char32_t next = 0x100;
  for (int b = 0; b < 256; ++b) {
    a.characters[b] = is_printable(b) ? static_cast<char32_t>(b) : next++;
    a.bytes[a.characters[b]] = static_cast<std::int16_t>(b);
  }
  return a;
}
constexpr Alphabet alphabet = make_alphabet();

}  // namespace

char32_t character_of_byte(unsigned char byte) { return alphabet.characters[byte]; }
int byte_of_character(char32_t code) { return code < alphabet_end ? alphabet.bytes[code] : -1; }

bool append_bytes_of(std::string_view spelled, std::string& out) {
  const std::size_t before = out.size();
  out.resize(before + spelled.size());  // at least one byte of spelling a byte
  char* to = out.data() + before;
  for (std::size_t i = 0; i < spelled.size();) {
    const auto b = static_cast<unsigned char>(spelled[i]);
    char32_t code = b;
    std::size_t size = 1;
    if (b >= 0x80) {  // every other letter of the alphabet takes two bytes
      const auto second = i + 1 < spelled.size() ? static_cast<unsigned char>(spelled[i + 1]) : 0;
      const bool two = b >= 0xC2 && b < 0xE0 && (second & 0xC0) == 0x80;
      code = two ? (b & 0x1Fu) << 6 | (second & 0x3Fu) : alphabet_end;
      size = 2;
    }
    const int byte = byte_of_character(code);
    if (byte < 0) {
      out.resize(before);
      return false;
    }
    *to++ = static_cast<char>(byte);
    i += size;
  }
  out.resize(static_cast<std::size_t>(to - out.data()));
  return true;
}

void append_spelling_of(std::string_view bytes, std::string& out) {
  for (char b : bytes) append_character(out, character_of_byte(static_cast<unsigned char>(b)));
}

}  // namespace ridge::text
