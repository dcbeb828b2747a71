// Which two pieces merge, how early, and into what. Eight bytes a slot: both ids (21 bits each) and the rank (22 bits).
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "text/tokenizer_spec.h"
#include "text/vocabulary.h"

namespace ridge::text {

inline constexpr std::uint32_t no_merge = 0xFFFFFFFFu;

class MergeTable {
 public:
  // Fails (input), naming the merge, where one names a piece that the vocabulary does not have. Of two merges of the
  // same pair the later one counts, as in the reference.
  MergeTable(const TokenizerSpec& spec, const Vocabulary& vocabulary);

  std::uint32_t rank(TokenId left, TokenId right) const;  // no_merge: these two do not
  TokenId merged(std::uint32_t rank) const { return merged_[rank]; }
  std::span<const TokenId> all_merged() const { return merged_; }
  std::size_t memory_bytes() const {
    return table_.capacity() * sizeof table_[0] + merged_.capacity() * sizeof merged_[0];
  }

 private:
  static constexpr int id_bits = 21, rank_bits = 22;
  static constexpr std::uint64_t empty = ~std::uint64_t(0);  // max_merges keeps every rank below this one's
  static std::uint64_t key_of(TokenId left, TokenId right) { return std::uint64_t(left) << id_bits | right; }
  void insert(TokenId left, TokenId right, std::uint32_t rank, const TokenizerSpec& spec);

  std::vector<std::uint64_t> table_;
  std::vector<TokenId> merged_;  // by rank
};

}  // namespace ridge::text
