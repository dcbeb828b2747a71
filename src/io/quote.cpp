#include "io/quote.h"

#include <fmt/core.h>

namespace ridge::io {
namespace {

// Bytes of the UTF-8 character that starts at `at`, or 0 where none does.
std::size_t utf8_length(std::string_view s, std::size_t at) {
  const auto byte = [&](std::size_t i) { return i < s.size() ? (unsigned char)s[i] : 0u; };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xc0u) == 0x80u; };
  const unsigned first = byte(at), second = byte(at + 1);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return follows(at + 1) ? 2 : 0;
  if (first >= 0xe0 && first < 0xf0) {
    const bool in_range =
        (first != 0xe0 || second >= 0xa0) && (first != 0xed || second < 0xa0);  // no long forms, no surrogates
    return in_range && follows(at + 1) && follows(at + 2) ? 3 : 0;
  }
  if (first >= 0xf0 && first < 0xf5) {
    const bool in_range = (first != 0xf0 || second >= 0x90) && (first != 0xf4 || second < 0x90);
    return in_range && follows(at + 1) && follows(at + 2) && follows(at + 3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::string quote(std::string_view text) {
  constexpr std::size_t longest = 96;
  std::string out = "'";
  for (std::size_t at = 0; at < text.size();) {
    if (at >= longest) {
      out += "...";
      break;
    }
    const std::size_t n = utf8_length(text, at);
    const unsigned char first = (unsigned char)text[at];
    const bool c1_control = n == 2 && first == 0xc2 && (unsigned char)text[at + 1] < 0xa0;
    if (n == 0 || first < 0x20 || first == 0x7f || c1_control) {
      out += fmt::format("\\x{:02x}", first);
      at += 1;
    } else {
      out += text.substr(at, n);
      at += n;
    }
  }
  return out + "'";
}

}  // namespace ridge::io
