#include "text/charsmap.h"

#include <cstring>

#include "base/error.h"
#include "text/utf8.h"

namespace ridge::text {

namespace {

constexpr std::size_t max_replacement_bytes = 256;  // Unicode's longest compatibility decomposition has 33

// The parts of a unit (darts-clone, DoubleArrayUnit).
bool has_leaf(std::uint32_t unit) { return unit >> 8 & 1; }
std::uint32_t value_of(std::uint32_t unit) { return unit & 0x7FFFFFFFu; }
std::uint32_t label_of(std::uint32_t unit) { return unit & 0x800000FFu; }
std::uint32_t offset_of(std::uint32_t unit) { return (unit >> 10) << ((unit & 0x200u) >> 6); }

}  // namespace

Charsmap::Charsmap(std::string_view blob, std::string_view source) : source_(source) {
  std::uint32_t trie_bytes = 0;
  if (blob.size() >= 4) std::memcpy(&trie_bytes, blob.data(), 4);
  if (blob.size() < 4 || trie_bytes == 0 || trie_bytes % 4 != 0 || trie_bytes > blob.size() - 4)
    fail_input("{}: normalization rules whose table does not fit in them", source_);
  units_.resize(trie_bytes / 4);
  std::memcpy(units_.data(), blob.data() + 4, trie_bytes);
  replacements_ = blob.substr(4 + trie_bytes);
}

// Every step is checked: a broken table leads nowhere, not outside.
Charsmap::Found Charsmap::longest(std::string_view text) const {
  Found found;
  std::uint32_t at = offset_of(units_[0]);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    at ^= byte;
    if (at >= units_.size() || label_of(units_[at]) != byte) break;
    const std::uint32_t unit = units_[at];
    at ^= offset_of(unit);
    const bool at_border = i + 1 == text.size() || (static_cast<unsigned char>(text[i + 1]) & 0xC0) != 0x80;
    if (has_leaf(unit) && at < units_.size() && at_border) found = {i + 1, value_of(units_[at])};
  }
  return found;
}

std::string_view Charsmap::replacement(std::uint32_t value) const {
  if (value >= replacements_.size()) fail_input("{}: a normalization rule without a replacement", source_);
  const std::string_view rest = std::string_view(replacements_).substr(value, max_replacement_bytes + 1);
  const std::size_t end = rest.find('\0');
  if (end == std::string_view::npos)
    fail_input("{}: a normalization rule whose replacement has no end, or one too far", source_);
  if (!is_valid_utf8(rest.substr(0, end)))
    fail_input("{}: a normalization rule whose replacement is not UTF-8", source_);
  return rest.substr(0, end);
}

void Charsmap::append(std::string_view text, std::string& out) const {
  while (!text.empty()) {
    const Found found = longest(text);
    const std::size_t size = found.size != 0 ? found.size : character_bytes(text[0]);
    out += found.size != 0 ? replacement(found.value) : text.substr(0, size);
    text.remove_prefix(size);
  }
}

}  // namespace ridge::text
