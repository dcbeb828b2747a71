// UTF-8: decoding, checking, and mending as Unicode recommends (each maximal ill-formed part becomes one U+FFFD).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace ridge::text {

inline constexpr std::string_view replacement_character = "\xEF\xBF\xBD";  // U+FFFD

struct Character {
  char32_t code = 0;       // U+FFFD where `valid` is false
  std::uint32_t size = 0;  // bytes; of an ill-formed part, the bytes that one U+FFFD replaces
  bool valid = false;
  bool cut = false;  // the text ends inside a character that could still become valid
};

// The character at the start of `text`, which is not empty.
Character first_character(std::string_view text);

// The same for text known to be valid, where only the code matters and `at` moves on.
char32_t next_character(std::string_view text, std::size_t& at);

// Bytes of the character whose first byte this is, in valid text.
inline std::size_t character_bytes(char lead) {
  const auto b = static_cast<unsigned char>(lead);
  return b < 0x80 ? 1 : b < 0xE0 ? 2 : b < 0xF0 ? 3 : 4;
}

void append_character(std::string& out, char32_t code);

bool is_valid_utf8(std::string_view text);
bool is_ascii(std::string_view text);

// A copy in which every ill-formed part is U+FFFD (what Rust's from_utf8_lossy and Python's errors="replace" give).
std::string mended(std::string_view text);

// White_Space of Unicode (PropList), which is also \s of Oniguruma and of Rust.
bool is_space(char32_t code);

// Bytes in, well-formed text out: a character that is not complete yet is held back. Joining what `push` and `finish`
// append gives mended(all bytes).
class Utf8Stream {
 public:
  void push(std::string_view bytes, std::string& out);
  void finish(std::string& out);  // what was held back can only be an ill-formed part: U+FFFD
  bool holds_back() const { return size_ != 0; }

 private:
  char held_[4] = {};
  std::uint32_t size_ = 0;
};

}  // namespace ridge::text
