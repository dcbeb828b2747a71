// Tokens back to text, one at a time: what is given out is complete, and joining it all gives the text of the whole.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/normalizer.h"
#include "text/tokenizer_spec.h"
#include "text/utf8.h"
#include "text/vocabulary.h"

namespace ridge::text {

enum class SpecialTokens { keep, skip };

// Where the tokens begin: some families drop the space that stands before the first word of a text.
enum class Position { start, middle };

// The decoder of a tokenizer as a row of stages, each of which takes pieces of text and hands pieces on.
class Detokenizer {
 public:
  // `vocabulary` outlives this. Fails (input) on an order of decoders that only makes sense with the whole text at hand
  // (none of the known families has one): after Fuse, only Strip at the start and Replace of one character are
  // accepted.
  Detokenizer(const TokenizerSpec& spec, const Vocabulary& vocabulary,
              std::vector<std::pair<TokenId, std::string>> normalized_added);

  struct State {
    struct Stage {
      std::string held;               // byte_fallback: bytes of the run so far; word_suffix: the last token
      bool any = false;               // a token has come by
      std::size_t left_to_strip = 0;  // characters, of the start of the whole
    };
    std::vector<Stage> stages;
    Utf8Stream utf8;
    MatchScratch match;
  };
  void start(State& state, Position position) const;
  void push(State& state, TokenId id, SpecialTokens special, std::string& out) const;
  void finish(State& state, std::string& out) const;

 private:
  struct Stage {
    DecoderStep what;
    std::vector<Regex> regex;
    bool whole = false;  // what comes in are parts of one text, not tokens
  };
  void feed(std::size_t index, std::string_view token, State& state, std::string& out) const;
  void flush_bytes(std::size_t index, State& state, std::string& out) const;
  void strip(std::size_t index, std::string_view token, State& state, std::string& out) const;

  const Vocabulary& vocabulary_;
  std::vector<std::pair<TokenId, std::string>> normalized_added_;  // sorted; mostly empty
  std::vector<Stage> stages_;
  bool joined_with_spaces_ = false;
  bool from_bytes_ = false;  // tokens come in as the bytes they stand for
};

}  // namespace ridge::text
