// Splitting and replacing in text.
#include <algorithm>

#include "text/jinja_methods.h"
#include "text/jinja_unicode.h"

namespace ridge::text::jinja {
namespace {

std::vector<std::string_view> split_space_left(std::string_view text, std::int64_t most) {
  std::vector<std::string_view> parts;
  text = strip(text, Ends::left);
  while (!text.empty()) {
    if (most >= 0 && static_cast<std::int64_t>(parts.size()) == most) {
      parts.push_back(text);
      break;
    }
    std::size_t end = 0;
    while (end < text.size()) {
      Character c = character_at(text, end);
      if (is_space(c.code)) break;
      end += c.bytes;
    }
    parts.push_back(text.substr(0, end));
    text = strip(text.substr(end), Ends::left);
  }
  return parts;
}

std::vector<std::string_view> split_space_right(std::string_view text, std::int64_t most) {
  // The last words one by one; what is left, with the white space before and inside it, is one piece.
  std::vector<std::string_view> words = split_space_left(text, -1);
  if (most < 0 || static_cast<std::int64_t>(words.size()) <= most) return words;
  std::size_t rest = words.size() - static_cast<std::size_t>(most);
  std::vector<std::string_view> parts;
  std::size_t last = static_cast<std::size_t>(words[rest - 1].data() - text.data()) + words[rest - 1].size();
  parts.push_back(text.substr(0, last));
  parts.insert(parts.end(), words.begin() + static_cast<std::ptrdiff_t>(rest), words.end());
  return parts;
}

}  // namespace

std::vector<std::string_view> split_text(Machine& machine, std::string_view text, const std::string* separator,
                                         std::int64_t most, From from) {
  machine.step(text.size() / 16);
  if (!separator) return from == From::left ? split_space_left(text, most) : split_space_right(text, most);
  if (separator->empty()) machine.fail("splitting needs a separator that is not empty");
  std::vector<std::string_view> parts;
  auto may_split = [&] { return most < 0 || static_cast<std::int64_t>(parts.size()) < most; };
  if (from == From::left) {
    for (std::size_t at; may_split() && (at = text.find(*separator)) != std::string_view::npos;) {
      parts.push_back(text.substr(0, at));
      text = text.substr(at + separator->size());
    }
    parts.push_back(text);
  } else {
    for (std::size_t at; may_split() && (at = text.rfind(*separator)) != std::string_view::npos;) {
      parts.push_back(text.substr(at + separator->size()));
      text = text.substr(0, at);
    }
    parts.push_back(text);
    std::reverse(parts.begin(), parts.end());
  }
  machine.charge(parts.size() * sizeof(Value));
  return parts;
}

std::vector<std::string_view> split_lines(std::string_view text, LineEnds ends) {
  std::vector<std::string_view> lines;
  std::size_t start = 0;
  for (std::size_t at = 0; at < text.size();) {
    Character c = character_at(text, at);
    std::size_t behind = at + static_cast<std::size_t>(c.bytes);
    if (!is_line_end(c.code)) {
      at = behind;
      continue;
    }
    if (c.code == '\r' && behind < text.size() && text[behind] == '\n') ++behind;
    lines.push_back(text.substr(start, (ends == LineEnds::kept ? behind : at) - start));
    start = at = behind;
  }
  if (start < text.size()) lines.push_back(text.substr(start));
  return lines;
}

std::string replace_text(Machine& machine, std::string_view text, std::string_view old, std::string_view with,
                         std::int64_t most) {
  machine.step(text.size() / 16);
  std::string out;
  std::int64_t done = 0;
  auto may_replace = [&] { return most < 0 || done < most; };
  if (old.empty()) {  // goes before each character and at the end
    for (std::size_t at = 0; at <= text.size();) {
      if (may_replace()) {
        out += with;
        machine.charge(with.size());
        ++done;
      }
      if (at == text.size()) break;
      int bytes = character_at(text, at).bytes;
      out += text.substr(at, bytes);
      at += bytes;
    }
    return out;
  }
  for (std::size_t at; may_replace() && (at = text.find(old)) != std::string_view::npos; ++done) {
    out += text.substr(0, at);
    out += with;
    machine.charge(with.size());
    text = text.substr(at + old.size());
  }
  return out += text;
}

std::string center_text(Machine& machine, std::string_view text, std::int64_t width, std::string_view fill) {
  std::int64_t margin = std::max<std::int64_t>(0, width - count_characters(text));
  machine.charge(static_cast<std::uint64_t>(margin) * fill.size());
  std::int64_t left = margin / 2 + (margin & width & 1);  // as CPython's pad_center
  std::string out;
  for (std::int64_t i = 0; i < left; ++i) out += fill;
  out += text;
  for (std::int64_t i = left; i < margin; ++i) out += fill;
  return out;
}

}  // namespace ridge::text::jinja
