// Cuts a template's source into tokens as Jinja2's lexer does with trim_blocks and lstrip_blocks on: text between tags
// with white space control applied, and the tokens inside tags.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ridge::text::jinja {

enum class TokenKind : std::uint8_t {
  data,
  variable_begin,
  variable_end,
  block_begin,
  block_end,
  name,
  string,
  integer,
  real,
  symbol,
  end
};

struct Token {
  TokenKind kind = TokenKind::end;
  int line = 1;
  std::string text;  // data, name, decoded string, or symbol as written
  std::int64_t integer = 0;
  double real = 0;
};

// Fails (the user's input, with the line) on what Jinja2 refuses. The last token is `end`.
std::vector<Token> tokenize(std::string_view source);

}  // namespace ridge::text::jinja
