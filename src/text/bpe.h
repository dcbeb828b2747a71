// Byte pair encoding of one word (a piece of text that the pre-tokenizer left whole), by ranked merges or by scores.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/merge.h"
#include "text/merge_table.h"
#include "text/tokenizer_spec.h"
#include "text/vocabulary.h"
#include "text/word_cache.h"

namespace ridge::text {

// What one encoding at a time works with; kept between calls so that nothing is allocated per word.
struct BpeScratch {
  WordCache cache;
  MergeScratch merge;
  std::vector<TokenId> ids;
  std::vector<std::uint32_t> starts;  // of symbols, in bytes; one more than there are symbols
  std::string symbol;
  std::unordered_map<std::string_view, std::uint32_t> left_sizes;  // of merges into unused pieces
  std::vector<std::string_view> pending;
};

class Bpe {
 public:
  // `vocabulary` outlives this. Fails (input) as MergeTable does, and on scores that are not numbers.
  Bpe(const TokenizerSpec& spec, const Vocabulary& vocabulary);

  // Appends the ids of a word: valid UTF-8 in a vocabulary of texts, any bytes in a byte-level one. Words of a
  // vocabulary that says where words start (see `mark_`) are encoded one after another.
  void encode(std::string_view word, BpeScratch& scratch, std::vector<TokenId>& out) const;

  std::size_t memory_bytes() const { return merges_.memory_bytes() + scores_.capacity() * sizeof(float); }

 private:
  void encode_word(std::string_view word, BpeScratch& scratch, std::vector<TokenId>& out) const;
  void encode_ranked(std::string_view word, BpeScratch& scratch, std::vector<TokenId>& out) const;
  void encode_scored(std::string_view word, BpeScratch& scratch, std::vector<TokenId>& out) const;
  void symbols_of(std::string_view word, BpeScratch& scratch) const;
  TokenId symbol_of(std::string_view character, bool first, bool last, BpeScratch& scratch) const;
  bool append_byte_pieces(std::string_view bytes, std::vector<TokenId>& out) const;
  void append_unknown(bool after_unknown, std::string_view character, std::vector<TokenId>& out) const;
  void append_scored_piece(std::string_view piece, BpeScratch& scratch, bool& after_unknown,
                           std::vector<TokenId>& out) const;
  bool starts_words(std::string_view mark) const;

  const Vocabulary& vocabulary_;
  Merging merging_;
  bool ignore_merges_, byte_fallback_, fuse_unknown_;
  std::string unknown_piece_, continuing_prefix_, word_suffix_, source_;
  TokenId unknown_ = no_token;
  MergeTable merges_;
  std::vector<float> scores_;
  std::vector<bool> unused_;               // by id; empty where no piece is
  std::array<TokenId, 256> byte_symbols_;  // byte-level: the piece of a byte; else of an ASCII character
  std::array<TokenId, 256> byte_pieces_;   // <0xNN>
  std::string mark_;                       // not empty: a piece never holds text before this mark, so a word may be
};                                         // cut before each run of it, and 1 MB of text is not one word

}  // namespace ridge::text
