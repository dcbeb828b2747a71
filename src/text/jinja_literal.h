// Literals of the template language: numbers and string escapes.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace ridge::text::jinja {

struct NumberLiteral {
  std::size_t length = 0;  // characters used
  bool is_real = false;
  bool too_large = false;  // an integer beyond 64 bits
  std::int64_t integer = 0;
  double real = 0;
};

// The number at the start of `text`, which starts with a digit. Behind a dot (`x.0.1`) only integers are taken.
NumberLiteral scan_number(std::string_view text, bool after_dot);

// The text of a string literal (without its quotes), escapes resolved as Python's unicode-escape codec does.
// On failure `error` says why.
std::string decode_string(std::string_view literal, std::string& error);

}  // namespace ridge::text::jinja
