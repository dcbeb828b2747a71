// The ids of words seen lately. Direct-mapped and of fixed size: a new word takes the place of an old one.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "text/tokenizer_spec.h"

namespace ridge::text {

class WordCache {
 public:
  static constexpr std::size_t max_word_bytes = 26, max_ids = 8;

  // The ids, or nothing; valid until the next `put`.
  std::span<const TokenId> get(std::string_view word, std::uint64_t hash) const {
    if (entries_.empty() || word.size() > max_word_bytes) return {};
    const Entry& e = entries_[hash % slots];
    const bool hit =
        e.tag == tag_of(hash) && e.size == word.size() && std::memcmp(e.word, word.data(), word.size()) == 0;
    return hit ? std::span<const TokenId>(e.ids, e.count) : std::span<const TokenId>();
  }

  void put(std::string_view word, std::uint64_t hash, std::span<const TokenId> ids) {
    if (word.size() > max_word_bytes || ids.empty() || ids.size() > max_ids) return;
    if (entries_.empty()) entries_.resize(slots);
    Entry& e = entries_[hash % slots];
    e.tag = tag_of(hash);
    e.size = static_cast<std::uint8_t>(word.size());
    e.count = static_cast<std::uint8_t>(ids.size());
    std::memcpy(e.word, word.data(), word.size());
    std::copy(ids.begin(), ids.end(), e.ids);
  }

 private:
  static constexpr std::size_t slots = 8192;  // 512 KiB
  static std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }
  struct Entry {  // one cache line
    std::uint32_t tag = 0;
    std::uint8_t size = 0, count = 0;  // size 0: free (no word is empty)
    char word[max_word_bytes] = {};
    TokenId ids[max_ids] = {};
  };
  static_assert(sizeof(Entry) == 64);
  std::vector<Entry> entries_;
};

}  // namespace ridge::text
