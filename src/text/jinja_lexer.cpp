#include "text/jinja_lexer.h"

#include <cmath>

#include "base/error.h"
#include "text/jinja_literal.h"
#include "text/jinja_unicode.h"

namespace ridge::text::jinja {
namespace {

// Line ends become \n, and one at the very end goes (keep_trailing_newline is off).
std::string normalize(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') out += source[i];
    else {
      out += '\n';
      if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    }
  }
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit_char(char c) { return c >= '0' && c <= '9'; }

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(normalize(source)) {}

  std::vector<Token> run() {
    while (position_ < source_.size()) lex_text();
    add(TokenKind::end, {});
    return std::move(tokens_);
  }

 private:
  bool starts(std::string_view with, std::size_t at) const {
    return std::string_view(source_).substr(at, with.size()) == with;
  }

  int line_at(std::size_t position) {
    for (; counted_ < position; ++counted_) line_ += source_[counted_] == '\n';
    return line_;
  }

  template <class... Args> [[noreturn]] void fail(std::size_t at, fmt::format_string<Args...> format, Args&&... args) {
    fail_input("chat template, line {}: {}", line_at(at), fmt::format(format, std::forward<Args>(args)...));
  }

  Token& add(TokenKind kind, std::string text) {
    Token token;
    token.kind = kind;
    token.line = line_at(position_);
    token.text = std::move(text);
    tokens_.push_back(std::move(token));
    return tokens_.back();
  }

  std::size_t skip_space(std::size_t at) const {
    while (at < source_.size()) {
      Character c = character_at(source_, at);
      if (!is_space(c.code)) break;
      at += c.bytes;
    }
    return at;
  }

  // Emits the text before a tag, with the white space control that the tag asks for.
  void add_data(std::string_view text, char sign, bool may_strip_line) {
    if (sign == '-') text = strip(text, Ends::right);
    else if (sign != '+' && may_strip_line) {
      std::size_t line = text.rfind('\n');
      line = line == std::string_view::npos ? 0 : line + 1;
      if ((line > 0 || line_starting_) && strip(text.substr(line), Ends::left).empty()) text = text.substr(0, line);
    }
    if (!text.empty()) add(TokenKind::data, std::string(text));
  }

  char sign_at(std::size_t at) const {
    return at < source_.size() && (source_[at] == '-' || source_[at] == '+') ? source_[at] : 0;
  }

  // If a block tag that holds only `word` starts at `at` (which is a "{%"), returns the offset behind the word.
  std::size_t match_word_tag(std::size_t at, std::string_view word, char& sign) const {
    sign = sign_at(at + 2);
    std::size_t inside = skip_space(at + 2 + (sign ? 1 : 0));
    if (!starts(word, inside)) return std::string::npos;
    return skip_space(inside + word.size());
  }

  void lex_text() {
    std::size_t tag = position_;
    for (;; ++tag) {
      tag = source_.find('{', tag);
      if (tag == std::string::npos || tag + 1 >= source_.size()) {
        add(TokenKind::data, source_.substr(position_));
        position_ = source_.size();
        return;
      }
      char kind = source_[tag + 1];
      if (kind == '{' || kind == '%' || kind == '#') break;
    }
    std::string_view text = std::string_view(source_).substr(position_, tag - position_);
    char sign = sign_at(tag + 2);
    char kind = source_[tag + 1];
    if (kind == '%' && lex_raw(tag, text)) return;
    add_data(text, sign, kind != '{');
    position_ = tag;
    if (kind == '#') {
      position_ = tag + 2 + (sign ? 1 : 0);
      lex_comment();
      return;
    }
    add(kind == '{' ? TokenKind::variable_begin : TokenKind::block_begin, {});
    position_ = tag + 2 + (sign ? 1 : 0);
    lex_tag(kind == '{');
  }

  // Moves behind a block's or comment's end that is `length` long; the newline behind it goes.
  void end_block(std::size_t at, std::size_t length, char sign) {
    position_ = at + length;
    if (sign == '-') position_ = skip_space(position_);
    else if (sign != '+' && position_ < source_.size() && source_[position_] == '\n') ++position_;
    line_starting_ = source_[position_ - 1] == '\n';
  }

  void lex_comment() {
    if (position_ == source_.size()) return;  // Jinja2 lets an empty one at the very end pass
    std::size_t end = source_.find("#}", position_);
    if (end == std::string::npos) fail(position_, "a comment is not ended by '#}}'");
    char sign = end > position_ ? sign_at(end - 1) : 0;
    end_block(end, 2, sign);
  }

  bool lex_raw(std::size_t tag, std::string_view text) {
    char sign = 0;
    std::size_t end = match_word_tag(tag, "raw", sign);
    if (end == std::string::npos) return false;
    if (starts("-%}", end)) end = skip_space(end + 3);
    else if (starts("%}", end)) end += 2;
    else return false;
    add_data(text, sign, true);
    line_starting_ = source_[end - 1] == '\n';
    position_ = end;
    if (end == source_.size()) return true;  // as for comments
    for (std::size_t close = end;; ++close) {
      close = source_.find("{%", close);
      if (close == std::string::npos) fail(position_, "'raw' is not ended by 'endraw'");
      char close_sign = 0;
      std::size_t behind = match_word_tag(close, "endraw", close_sign);
      if (behind == std::string::npos) continue;
      char end_sign = sign_at(behind);
      if (!starts("%}", behind + (end_sign ? 1 : 0))) continue;
      add_data(std::string_view(source_).substr(end, close - end), close_sign, true);
      end_block(behind + (end_sign ? 1 : 0), 2, end_sign);
      return true;
    }
  }

  bool lex_tag_end(bool variable) {
    char sign = sign_at(position_);
    std::size_t at = position_ + (sign ? 1 : 0);
    if (variable) {
      if (sign == '+' || !starts("}}", at)) return false;
      add(TokenKind::variable_end, {});
      position_ = at + 2;
      if (sign == '-') position_ = skip_space(position_);
      line_starting_ = source_[position_ - 1] == '\n';
      return true;
    }
    if (!starts("%}", at)) return false;
    add(TokenKind::block_end, {});
    end_block(at, 2, sign);
    return true;
  }

  void lex_tag(bool variable) {
    while (position_ < source_.size()) {
      if (open_.empty() && lex_tag_end(variable)) return;
      std::size_t behind = skip_space(position_);
      if (behind != position_) {
        position_ = behind;
        continue;
      }
      char c = source_[position_];
      if (is_digit_char(c)) lex_number();
      else if (is_name_start(c)) lex_name();
      else if (c == '\'' || c == '"') lex_string(c);
      else lex_symbol();
    }
  }

  void lex_name() {
    std::size_t end = position_;
    while (end < source_.size() && (is_name_start(source_[end]) || is_digit_char(source_[end]))) ++end;
    if (end < source_.size() && static_cast<unsigned char>(source_[end]) >= 0x80) {
      Character c = character_at(source_, end);
      if (is_alnum(c.code)) fail(end, "names with characters beyond ASCII are not supported");
    }
    add(TokenKind::name, source_.substr(position_, end - position_));
    position_ = end;
  }

  void lex_number() {
    bool after_dot = position_ > 0 && source_[position_ - 1] == '.';
    NumberLiteral number = scan_number(std::string_view(source_).substr(position_), after_dot);
    if (number.too_large) fail(position_, "integers beyond 64 bits are not supported");
    if (std::isinf(number.real)) fail(position_, "floats beyond the range of a double are not supported");
    Token& token = add(number.is_real ? TokenKind::real : TokenKind::integer, {});
    token.integer = number.integer;
    token.real = number.real;
    position_ += number.length;
  }

  void lex_string(char quote) {
    std::size_t end = position_ + 1;
    while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
    if (end >= source_.size()) fail(position_, "a string that starts with {} is not ended", quote);
    std::string error;
    std::string text = decode_string(std::string_view(source_).substr(position_ + 1, end - position_ - 1), error);
    if (!error.empty()) fail(position_, "{}", error);
    add(TokenKind::string, std::move(text));
    position_ = end + 1;
  }

  void lex_symbol() {
    static constexpr std::string_view symbols[] = {"//", "**", "==", "!=", ">=", "<=", "+", "-", "/",
                                                   "*",  "%",  "~",  "[",  "]",  "(",  ")", "{", "}",
                                                   ">",  "<",  "=",  ".",  ":",  "|",  ",", ";"};
    for (std::string_view symbol : symbols) {
      if (!starts(symbol, position_)) continue;
      balance(symbol[0]);
      add(TokenKind::symbol, std::string(symbol));
      position_ += symbol.size();
      return;
    }
    Character c = character_at(source_, position_);
    fail(position_, "unexpected character '{}'", source_.substr(position_, c.bytes));
  }

  void balance(char c) {
    if (c == '(') open_ += ')';
    else if (c == '[') open_ += ']';
    else if (c == '{') open_ += '}';
    else if (c == ')' || c == ']' || c == '}') {
      if (open_.empty()) fail(position_, "unexpected '{}'", c);
      if (open_.back() != c) fail(position_, "unexpected '{}', expected '{}'", c, open_.back());
      open_.pop_back();
    }
  }

  std::string source_;
  std::vector<Token> tokens_;
  std::size_t position_ = 0, counted_ = 0;
  int line_ = 1;
  bool line_starting_ = true;  // the last tag ended with a newline (Jinja2's rule for lstrip_blocks)
  std::string open_;           // the closing brackets that are due
};

}  // namespace

std::vector<Token> tokenize(std::string_view source) { return Lexer(source).run(); }

}  // namespace ridge::text::jinja
