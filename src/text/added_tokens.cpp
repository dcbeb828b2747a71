#include "text/added_tokens.h"

#include <algorithm>

#include "text/unicode.h"
#include "text/utf8.h"

namespace ridge::text {

namespace {

// The start of the character that ends before `end`.
std::size_t character_before(std::string_view text, std::size_t end) {
  std::size_t at = end - 1;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return at;
}

std::size_t skip_spaces_back(std::string_view text, std::size_t end, std::size_t least) {
  while (end > least) {
    const std::size_t before = character_before(text, end);
    std::size_t at = before;
    if (!is_space(next_character(text, at))) break;
    end = before;
  }
  return std::max(end, least);
}

std::size_t skip_spaces(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    std::size_t after = at;
    if (!is_space(next_character(text, after))) break;
    at = after;
  }
  return at;
}

bool is_inside_word(std::string_view text, std::size_t begin, std::size_t end) {
  std::size_t before = begin == 0 ? 0 : character_before(text, begin);
  std::size_t after = end;
  return (begin != 0 && is_word(next_character(text, before))) ||
         (end != text.size() && is_word(next_character(text, after)));
}

}  // namespace

AddedTokenMatcher::AddedTokenMatcher(std::vector<Entry> entries) : entries_(std::move(entries)) {
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const Entry& a, const Entry& b) { return a.content < b.content; });
  entries_.erase(std::unique(entries_.begin(), entries_.end(),
                             [](const Entry& a, const Entry& b) { return a.content == b.content; }),
                 entries_.end());
  for (const Entry& e : entries_) first_bytes_[static_cast<unsigned char>(e.content[0])] = true;
}

// Narrows the sorted entries byte by byte: those left share the text's first `depth` bytes, a complete one comes first.
const AddedTokenMatcher::Entry* AddedTokenMatcher::longest_at(std::string_view text, std::size_t at) const {
  auto low = entries_.begin(), high = entries_.end();
  const Entry* longest = nullptr;
  for (std::size_t depth = 0; low != high; ++depth) {
    if (low->content.size() == depth && depth != 0) {
      longest = &*low;
      ++low;
    }
    if (at + depth == text.size()) break;
    const auto byte = static_cast<unsigned char>(text[at + depth]);
    const auto byte_of = [&](const Entry& e) { return static_cast<unsigned char>(e.content[depth]); };
    low = std::partition_point(low, high, [&](const Entry& e) { return byte_of(e) < byte; });
    high = std::partition_point(low, high, [&](const Entry& e) { return byte_of(e) == byte; });
  }
  return longest;
}

void AddedTokenMatcher::split(std::string_view text, Control control,
                              FunctionRef<void(std::string_view, std::size_t, const Entry*)> part) const {
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (!first_bytes_[static_cast<unsigned char>(text[at])]) {
      ++at;
      continue;
    }
    const Entry* entry = longest_at(text, at);
    if (!entry) {
      ++at;
      continue;
    }
    std::size_t begin = at, end = at + entry->content.size();
    at = end;
    if (entry->special && control == Control::text) continue;
    if (entry->single_word && is_inside_word(text, begin, end)) continue;
    if (entry->lstrip) begin = skip_spaces_back(text, begin, std::min(done, begin));
    if (entry->rstrip) end = skip_spaces(text, end);
    if (done < begin) part(text.substr(done, begin - done), done, nullptr);
    part(text.substr(begin, end - begin), begin, entry);
    done = end;
  }
  if (done < text.size()) part(text.substr(done), done, nullptr);
}

}  // namespace ridge::text
