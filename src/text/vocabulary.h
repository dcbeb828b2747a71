// The pieces of a vocabulary: what each id stands for, and which id a text has. One arena of bytes, one table.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/hash.h"
#include "text/tokenizer_spec.h"

namespace ridge::text {

inline constexpr TokenId no_token = 0xFFFFFFFFu;

class Vocabulary {
 public:
  // Copies what it needs. Fails (input) on too many or too long pieces and on one text with two ids.
  explicit Vocabulary(const TokenizerSpec& spec);

  std::size_t size() const { return flags_.size(); }  // ids are below it; some may have no piece
  Spelling spelling() const { return spelling_; }
  bool has(TokenId id) const { return id < size() && flags_[id] & present; }
  bool is_special(TokenId id) const { return id < size() && flags_[id] & special; }

  // What the piece stands for: in a byte-level vocabulary its bytes; in another its text as the file spells it. A piece
  // of a byte-level vocabulary that is not spelled in the alphabet stands for its own text (`is_literal`). Empty for an
  // id without a piece.
  std::string_view text(TokenId id) const {
    return id < size() ? std::string_view(arena_).substr(starts_[id], starts_[id + 1] - starts_[id])
                       : std::string_view();
  }
  bool is_literal(TokenId id) const { return id < size() && flags_[id] & literal; }
  std::string spelled(TokenId id) const;  // as the file spells it

  // The piece that stands for a text, among those that text may become (control tokens are not), or no_token.
  TokenId find(std::string_view text) const { return find(text, hash_of(text)); }
  TokenId find(std::string_view text, std::uint64_t hash) const { return find(text, hash, 0); }
  void fetch(std::uint64_t hash) const { __builtin_prefetch(&table_[hash & (table_.size() - 1)]); }  // soon wanted
  TokenId find_spelled(std::string_view spelling) const;
  bool is(TokenId id, std::string_view bytes) const { return has(id) && !(flags_[id] & literal) && text(id) == bytes; }

  std::size_t memory_bytes() const;

 private:
  enum Flag : std::uint8_t { present = 1, literal = 2, special = 4 };
  TokenId find(std::string_view text, std::uint64_t hash, std::uint8_t wanted_literal) const;
  void insert(TokenId id, const TokenizerSpec& spec);
  void add_text(TokenId id, std::string_view spelled);

  Spelling spelling_;
  std::string arena_;
  std::vector<std::uint32_t> starts_;  // size + 1
  std::vector<std::uint8_t> flags_;
  std::vector<std::uint64_t> table_;  // open addressing: high half of the hash | id + 1; 0 is empty
};

}  // namespace ridge::text
