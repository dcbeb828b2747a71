// SentencePiece's compiled normalization rules (normalizer.cc): a trie of texts and what each becomes.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ridge::text {

class Charsmap {
 public:
  // The `precompiled_charsmap` of a model: size of the trie in bytes, the trie (units of darts-clone's double array),
  // and the replacements, each ended by a zero byte. Fails (input) where it is not that.
  Charsmap(std::string_view blob, std::string_view source);

  // Appends the text with, from left to right, the longest text that has a rule replaced.
  void append(std::string_view text, std::string& out) const;

 private:
  struct Found {
    std::size_t size = 0;  // bytes of the text; 0: no rule
    std::uint32_t value = 0;
  };
  Found longest(std::string_view text) const;
  std::string_view replacement(std::uint32_t value) const;

  std::vector<std::uint32_t> units_;
  std::string replacements_, source_;
};

}  // namespace ridge::text
