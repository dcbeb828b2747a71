// What Python's str knows about characters: code points, white space, classes and full case mappings.
// Text is UTF-8; a byte that is not part of a valid sequence counts as one character of its own and is kept as it is.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ridge::text::jinja {

inline constexpr std::uint32_t invalid_byte = 0x110000;  // + the byte

struct Character {
  std::uint32_t code = 0;  // a code point, or invalid_byte + the byte
  int bytes = 1;
};

Character character_at(std::string_view text, std::size_t position);  // position < text.size()
std::int64_t count_characters(std::string_view text);
std::size_t byte_offset(std::string_view text, std::int64_t character);  // of character 0 ... count; clamps
std::vector<std::string_view> characters(std::string_view text);
void append_character(std::uint32_t code, std::string& out);

bool is_space(std::uint32_t code);      // str.isspace, and \s of the module re
bool is_alpha(std::uint32_t code);      // str.isalpha
bool is_decimal(std::uint32_t code);    // str.isdecimal
bool is_digit(std::uint32_t code);      // str.isdigit
bool is_alnum(std::uint32_t code);      // str.isalnum
bool is_printable(std::uint32_t code);  // str.isprintable
bool is_upper(std::uint32_t code);
bool is_lower(std::uint32_t code);
bool is_title(std::uint32_t code);
bool is_line_end(std::uint32_t code);  // where str.splitlines splits

enum class Case { upper, lower, title };
std::string to_case(std::string_view text, Case wanted);  // every character; final sigma as str.lower has it
std::string capitalize(std::string_view text);            // str.capitalize
std::string title(std::string_view text);                 // str.title
std::string swap_case(std::string_view text);             // str.swapcase

// Offsets [first, second) of what is left after stripping characters at the ends; `set` empty means white space.
enum class Ends { both, left, right };
std::string_view strip(std::string_view text, Ends ends);
std::string_view strip(std::string_view text, Ends ends, std::string_view set);

}  // namespace ridge::text::jinja
