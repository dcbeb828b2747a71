// Oniguruma's syntax (ONIG_SYNTAX_ONIGURUMA, doc/RE of Oniguruma 6.9) said in PCRE2's. Where the same text means the
// same it is passed on; where it does not, it is rewritten; what has no exact equal is refused.
#include <array>
#include <string>

#include "base/error.h"
#include "text/regex.h"
#include "text/utf8.h"

namespace ridge::text {

namespace {

// White_Space; PCRE2's own \s also takes U+180E.
constexpr std::string_view space_set =
    R"(\x{9}-\x{d}\x{20}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})";
constexpr std::string_view not_space_set =
    R"(\x{0}-\x{8}\x{e}-\x{1f}\x{21}-\x{84}\x{86}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{10ffff})";
// Oniguruma's word: Alphabetic, M, Nd, Pc; PCRE2's own \w is L, N and the underscore.
constexpr std::string_view word_set = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})";
// Outside of a set Oniguruma asks a table for the first 256 characters, which also calls ² ³ ¹ ¼ ½ ¾ words.
constexpr std::string_view lone_word_set = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{b2}\x{b3}\x{b9}\x{bc}-\x{be})";

constexpr std::array<std::string_view, 39> categories = {
    "Any", "C",  "Cc", "Cf", "Cn", "Co", "Cs", "L",  "Ll", "Lm", "Lo", "Lt", "Lu",
    "M",   "Mc", "Me", "Mn", "N",  "Nd", "Nl", "No", "P",  "Pc", "Pd", "Pe", "Pf",
    "Pi",  "Po", "Ps", "S",  "Sc", "Sk", "Sm", "So", "Z",  "Zl", "Zp", "Zs", "Alphabetic"};

class Translator {
 public:
  Translator(std::string_view pattern, std::string_view source) : in_(pattern), source_(source) {}

  std::string run() {
    while (at_ < in_.size()) {
      const char c = in_[at_];
      if (c == '\\') escape(Place::outside);
      else if (c == '[') set();
      else if (c == '(') group();
      else if (c == '{') braces();
      else copy(1);
    }
    // Started inside a run of spaces, \s+$ can only fail where it failed at the run's start: saying so makes it linear.
    if (in_ == R"(\s+$)") return "(?<![" + std::string(space_set) + "])" + out_;
    return out_;
  }

 private:
  enum class Place { outside, in_set };

  char peek(std::size_t ahead = 0) const { return at_ + ahead < in_.size() ? in_[at_ + ahead] : '\0'; }
  void copy(std::size_t n) {
    out_ += in_.substr(at_, n);
    at_ += n;
  }
  void put(std::string_view text, std::size_t consumed) {
    out_ += text;
    at_ += consumed;
  }
  [[noreturn]] void refuse(std::string_view what) const {
    fail_input("{}: regular expression '{}', byte {}: {}", source_, in_, at_, what);
  }

  void shorthand(Place place, std::string_view set) {
    if (place == Place::outside) put("[" + std::string(set) + "]", 2);
    else put(set, 2);
  }

  void escape(Place place) {
    const bool outside = place == Place::outside;
    switch (const char c = peek(1)) {
      case 's': return shorthand(place, space_set);
      case 'S': return shorthand(place, not_space_set);
      case 'd': return put(R"(\p{Nd})", 2);
      case 'D': return put(R"(\P{Nd})", 2);
      case 'h': return put(outside ? "[0-9a-fA-F]" : "0-9a-fA-F", 2);
      case 'w': return shorthand(place, outside ? lone_word_set : word_set);
      case 'W':
        if (!outside) refuse("\\W inside a set is not supported");
        return put("[^" + std::string(lone_word_set) + "]", 2);
      case 'b':
      case 'B': return boundary(place, c == 'b');
      case 'p':
      case 'P': return property();
      case 'v': return put(R"(\x{b})", 2);
      case 'u': return code_point(4);
      case 'x':
        if (peek(2) == '{') return copy(2);
        return code_point(2);
      case 'n':
      case 'r':
      case 't':
      case 'f':
      case 'a':
      case 'e': return copy(2);
      case 'A':
      case 'z':
      case 'Z':
      case 'G':
      case 'R':
      case 'k':
        if (!outside) refuse("this escape inside a set is not supported");
        return copy(2);
      default: break;
    }
    const char c = peek(1);
    if (c == '\0') refuse("a backslash at the end");
    if (c >= '1' && c <= '9' && outside) return copy(2);
    if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
      refuse("this escape is not supported");
    // A literal; PCRE2 takes a backslash before anything but letters and digits. Other bytes of a character follow.
    copy(2);
  }

  void boundary(Place place, bool wanted) {
    if (place == Place::in_set) {
      if (!wanted) refuse("\\B inside a set");
      return put(R"(\x{8})", 2);
    }
    const std::string word = "[" + std::string(lone_word_set) + "]";
    const std::string before = "(?<=" + word + ")", not_before = "(?<!" + word + ")";
    const std::string after = "(?=" + word + ")", not_after = "(?!" + word + ")";
    put(wanted ? "(?:" + before + not_after + "|" + not_before + after + ")"
               : "(?:" + before + after + "|" + not_before + not_after + ")",
        2);
  }

  // \p{Name}: categories mean the same; a script must say that it is one, because PCRE2 would take its extensions too.
  void property() {
    if (peek(2) != '{') refuse("\\p without braces is not supported");
    const std::size_t end = in_.find('}', at_);
    if (end == std::string_view::npos) refuse("\\p{ without }");
    std::string_view name = in_.substr(at_ + 3, end - at_ - 3);
    const bool negated = name.starts_with('^');
    if (negated) name.remove_prefix(1);
    bool is_category = false;
    for (std::string_view c : categories) is_category |= c == name;
    if (!is_category && (name.size() < 3 || name.find_first_of(":=&") != std::string_view::npos))
      refuse("this \\p{…} is not supported");
    std::string said = in_[at_ + 1] == 'p' ? R"(\p{)" : R"(\P{)";
    if (negated) said += '^';
    if (!is_category) said += "sc:";
    put(said + std::string(name) + "}", end + 1 - at_);
  }

  void code_point(std::size_t digits) {
    const std::string_view hex = in_.substr(at_ + 2, digits);
    if (hex.size() != digits || hex.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos)
      refuse("wanted hexadecimal digits");
    if (digits == 2 && hex[0] >= '8') refuse("\\xNN above 7F is one byte of a character: not supported, write \\x{NN}");
    put("\\x{" + std::string(hex) + "}", 2 + digits);
  }

  void set() {
    copy(1);
    if (peek() == '^') copy(1);
    if (peek() == ']') refuse("an empty set, or ] first in one: write \\]");
    bool after_class = false;  // \s and its like: a hyphen beside one is a hyphen, not a range
    while (peek() != ']' || at_ >= in_.size()) {
      if (at_ >= in_.size()) refuse("a set without ]");
      const bool is_class = is_class_escape();
      if (peek() == '\\') {
        escape(Place::in_set);
      } else if (peek() == '[') {
        refuse("a set inside a set is not supported; write \\[ for the character");
      } else if (peek() == '&' && peek(1) == '&') {
        refuse("the intersection of sets (&&) is not supported");
      } else if (peek() == '-' && (after_class || is_class_escape(1))) {
        put(R"(\-)", 1);
      } else {
        copy(1);
      }
      after_class = is_class;
    }
    copy(1);
  }

  bool is_class_escape(std::size_t ahead = 0) const {
    return peek(ahead) == '\\' && peek(ahead + 1) != '\0' &&
           std::string_view("sSdDwWhHpP").find(peek(ahead + 1)) != std::string_view::npos;
  }

  void group() {
    if (peek(1) == '*') refuse("(* is not supported");
    if (peek(1) != '?') return copy(1);
    const char kind = peek(2);
    if (kind == ':' || kind == '=' || kind == '!' || kind == '>' || kind == '#') {
      if (kind != '#') return copy(3);
      const std::size_t end = in_.find(')', at_);
      if (end == std::string_view::npos) refuse("a comment without )");
      at_ = end + 1;
      return;
    }
    if (kind == '<') return copy(3);  // a look-behind or a name
    options();
  }

  // (?im-im) and (?im-im:…). Oniguruma's m lets the dot match a newline: PCRE2's s.
  void options() {
    const std::size_t start = at_;
    std::string said = "(?";
    std::size_t i = at_ + 2;
    for (; i < in_.size() && in_[i] != ')' && in_[i] != ':'; ++i) {
      const char c = in_[i];
      if (c != 'i' && c != 'm' && c != '-') refuse("this group is not supported");
      said += c == 'm' ? 's' : c;
    }
    if (i >= in_.size()) refuse("a group without )");
    // In the middle, (?i) reaches differently far in the two syntaxes when alternatives follow.
    if (in_[i] == ')' && start != 0) refuse("options without ':' are supported only at the start");
    put(said + in_[i], i + 1 - start);
  }

  void braces() {
    std::size_t i = at_ + 1;
    const auto digits = [&] {
      const std::size_t from = i;
      while (i < in_.size() && in_[i] >= '0' && in_[i] <= '9') ++i;
      return in_.substr(from, i - from);
    };
    const std::string_view low = digits();
    const bool comma = i < in_.size() && in_[i] == ',';
    if (comma) ++i;
    const std::string_view high = comma ? digits() : std::string_view();
    if (i >= in_.size() || in_[i] != '}' || (low.empty() && high.empty())) return put(R"(\{)", 1);  // a literal
    const char after = i + 1 < in_.size() ? in_[i + 1] : '\0';
    if (after == '+') refuse("{n,m}+ is possessive in one syntax and not in the other: not supported");
    if (after == '?' && !comma) refuse("{n}? is not supported");
    if (low.size() > 5 || high.size() > 5) refuse("a repeat of more than 65535");
    put("{" + std::string(low.empty() ? "0" : low) + (comma ? "," : "") + std::string(high) + "}", i + 1 - at_);
  }

  std::string_view in_, source_;
  std::size_t at_ = 0;
  std::string out_;
};

}  // namespace

std::string to_pcre2(std::string_view oniguruma, std::string_view source) {
  if (!is_valid_utf8(oniguruma)) fail_input("{}: a regular expression that is not UTF-8", source);
  if (oniguruma.find('\0') != std::string_view::npos) fail_input("{}: a regular expression with a zero byte", source);
  return Translator(oniguruma, source).run();
}

}  // namespace ridge::text
