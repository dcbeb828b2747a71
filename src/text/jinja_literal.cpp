#include "text/jinja_literal.h"

#include <fmt/core.h>

#include <cstdlib>

#include "text/jinja_unicode.h"

namespace ridge::text::jinja {
namespace {

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'z') return c - 'a' + 10;
  if (c >= 'A' && c <= 'Z') return c - 'A' + 10;
  return 99;
}

// Length of digits of a base with single underscores between them, from `at` (where a digit must be); 0 if none.
std::size_t digits_length(std::string_view text, std::size_t at, int base) {
  std::size_t end = at;
  while (end < text.size()) {
    if (digit_value(text[end]) < base) ++end;
    else if (end > at && text[end] == '_' && end + 1 < text.size() && digit_value(text[end + 1]) < base) end += 2;
    else break;
  }
  return end - at;
}

std::string without_underscores(std::string_view text) {
  std::string out;
  for (char c : text)
    if (c != '_') out += c;
  return out;
}

void set_integer(NumberLiteral& number, std::string_view digits, int base) {
  std::uint64_t value = 0;
  for (char c : digits) {
    if (c == '_') continue;
    if (__builtin_mul_overflow(value, static_cast<std::uint64_t>(base), &value) ||
        __builtin_add_overflow(value, static_cast<std::uint64_t>(digit_value(c)), &value) || value > INT64_MAX) {
      number.too_large = true;
      return;
    }
  }
  number.integer = static_cast<std::int64_t>(value);
}

// The length of a float literal at the start: digits with a fraction, an exponent, or both.
std::size_t real_length(std::string_view text) {
  std::size_t end = digits_length(text, 0, 10);
  bool real = false;
  if (end < text.size() && text[end] == '.') {
    std::size_t fraction = digits_length(text, end + 1, 10);
    if (fraction > 0) {
      end += 1 + fraction;
      real = true;
    }
  }
  if (end < text.size() && (text[end] == 'e' || text[end] == 'E')) {
    std::size_t sign = end + 1 < text.size() && (text[end + 1] == '+' || text[end + 1] == '-') ? 1 : 0;
    std::size_t exponent = digits_length(text, end + 1 + sign, 10);
    if (exponent > 0) {
      end += 1 + sign + exponent;
      real = true;
    }
  }
  return real ? end : 0;
}

}  // namespace

NumberLiteral scan_number(std::string_view text, bool after_dot) {
  NumberLiteral number;
  std::size_t real = after_dot ? 0 : real_length(text);
  if (real > 0) {
    number.is_real = true;
    number.length = real;
    number.real = std::strtod(without_underscores(text.substr(0, real)).c_str(), nullptr);
    return number;
  }
  if (text.size() > 2 && text[0] == '0') {
    char mark = static_cast<char>(text[1] | 0x20);
    int base = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 0;
    std::size_t underscore = base && text[2] == '_' ? 1 : 0;
    std::size_t length = base ? digits_length(text, 2 + underscore, base) : 0;
    if (length > 0) {
      number.length = 2 + underscore + length;
      set_integer(number, text.substr(2 + underscore, length), base);
      return number;
    }
  }
  number.length = digits_length(text, 0, text[0] == '0' ? 1 : 10);
  set_integer(number, text.substr(0, number.length), 10);
  return number;
}

std::string decode_string(std::string_view literal, std::string& error) {
  std::string out;
  for (std::size_t i = 0; i < literal.size();) {
    if (literal[i] != '\\') {
      out += literal[i++];
      continue;
    }
    if (i + 1 >= literal.size()) {
      error = "a string ends in a backslash";
      return out;
    }
    char c = literal[i + 1];
    static constexpr std::string_view plain_from = "\\'\"abfnrtv", plain_to = "\\'\"\a\b\f\n\r\t\v";
    if (std::size_t at = plain_from.find(c); at != std::string_view::npos) {
      out += plain_to[at];
      i += 2;
    } else if (c == '\n') {
      i += 2;
    } else if (c >= '0' && c <= '7') {
      std::uint32_t code = 0;
      std::size_t end = i + 1;
      while (end < literal.size() && end < i + 4 && literal[end] >= '0' && literal[end] <= '7')
        code = code * 8 + static_cast<std::uint32_t>(literal[end++] - '0');
      append_character(code, out);
      i = end;
    } else if (c == 'x' || c == 'u' || c == 'U') {
      std::size_t length = c == 'x' ? 2 : c == 'u' ? 4 : 8;
      std::uint32_t code = 0;
      for (std::size_t k = 0; k < length; ++k) {
        int digit = i + 2 + k < literal.size() ? digit_value(literal[i + 2 + k]) : 99;
        if (digit >= 16 || code > 0x10ffff) {
          error = fmt::format("a \\{} escape in a string needs {} hexadecimal digits", c, length);
          return out;
        }
        code = code * 16 + static_cast<std::uint32_t>(digit);
      }
      if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
        error = fmt::format("the escape \\{} in a string does not name a character", literal.substr(i + 1, length + 1));
        return out;
      }
      append_character(code, out);
      i += 2 + length;
    } else if (c == 'N') {
      error = "\\N{...} escapes in strings are not supported";
      return out;
    } else if (static_cast<unsigned char>(c) >= 0x80) {
      // Jinja2 turns characters beyond ASCII into escapes before it decodes, so the backslash protects that escape.
      Character wide = character_at(literal, i + 1);
      std::uint32_t code = wide.code;
      out += code < 0x100     ? fmt::format("\\x{:02x}", code)
             : code < 0x10000 ? fmt::format("\\u{:04x}", code)
                              : fmt::format("\\U{:08x}", code);
      i += 1 + static_cast<std::size_t>(wide.bytes);
    } else {
      out += '\\';
      out += c;
      i += 2;
    }
  }
  return out;
}

}  // namespace ridge::text::jinja
