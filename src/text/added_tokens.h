// Added tokens inside a text: control tokens and others that are looked for before words are.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "text/tokenizer_spec.h"

namespace ridge::text {

enum class Control {
  text,   // control tokens (`special`) that are spelled in a text stay text; other added tokens are found
  token,  // they become tokens
};

class AddedTokenMatcher {
 public:
  struct Entry {
    std::string content;  // what is looked for
    TokenId id = 0;
    bool single_word = false, lstrip = false, rstrip = false, special = false;
  };
  explicit AddedTokenMatcher(std::vector<Entry> entries);

  bool empty() const { return entries_.empty(); }

  // Cuts `text` into tokens and what lies between, in order: `part(text, begin, token)`, where `token` is null between.
  // At each place the longest token counts, from left to right (Aho-Corasick's leftmost-longest); one that is then
  // rejected (a control token that stays text, a part of a word) hides what it covers, as in the reference.
  void split(std::string_view text, Control control,
             FunctionRef<void(std::string_view, std::size_t, const Entry*)> part) const;

 private:
  const Entry* longest_at(std::string_view text, std::size_t at) const;

  std::vector<Entry> entries_;  // sorted by content
  std::array<bool, 256> first_bytes_{};
};

}  // namespace ridge::text
