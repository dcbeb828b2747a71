// A cursor over tokens, and the errors that parsing gives.
#pragma once
#include <fmt/core.h>

#include <span>
#include <string_view>

#include "base/error.h"
#include "text/jinja_lexer.h"

namespace ridge::text::jinja {

class TokenStream {
 public:
  explicit TokenStream(std::span<const Token> tokens) : tokens_(tokens) {}

  const Token& current() const { return tokens_[position_]; }
  const Token& look() const { return tokens_[std::min(position_ + 1, tokens_.size() - 1)]; }
  const Token& next() {
    const Token& token = current();
    if (position_ + 1 < tokens_.size()) ++position_;
    return token;
  }

  bool is(TokenKind kind) const { return current().kind == kind; }
  bool is_symbol(std::string_view text) const { return is(TokenKind::symbol) && current().text == text; }
  bool is_name(std::string_view text) const { return is(TokenKind::name) && current().text == text; }
  bool skip_symbol(std::string_view text) { return is_symbol(text) && (next(), true); }
  bool skip_name(std::string_view text) { return is_name(text) && (next(), true); }

  void expect_symbol(std::string_view text) {
    if (!skip_symbol(text)) fail("expected '{}', got {}", text, describe(current()));
  }
  void expect(TokenKind kind, std::string_view what) {
    if (!is(kind)) fail("expected {}, got {}", what, describe(current()));
    next();
  }
  std::string expect_name() {
    if (!is(TokenKind::name)) fail("expected a name, got {}", describe(current()));
    return next().text;
  }

  static std::string describe(const Token& token) {
    switch (token.kind) {
      case TokenKind::data: return "text";
      case TokenKind::variable_begin: return "'{{'";
      case TokenKind::variable_end: return "'}}'";
      case TokenKind::block_begin: return "'{%'";
      case TokenKind::block_end: return "'%}'";
      case TokenKind::string: return "a string";
      case TokenKind::integer:
      case TokenKind::real: return "a number";
      case TokenKind::end: return "the end of the template";
      case TokenKind::name:
      case TokenKind::symbol: return fmt::format("'{}'", token.text);
    }
    return "?";
  }

  template <class... Args> [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    fail_at(current().line, format, std::forward<Args>(args)...);
  }
  template <class... Args>
  [[noreturn]] void fail_at(int line, fmt::format_string<Args...> format, Args&&... args) const {
    fail_input("chat template, line {}: {}", line, fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  std::span<const Token> tokens_;
  std::size_t position_ = 0;
};

}  // namespace ridge::text::jinja
