// The pre-tokenizer: where words begin and end.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "text/regex.h"
#include "text/tokenizer_spec.h"

namespace ridge::text {

// A part of the text, and whether it starts where the whole input starts.
struct TextPart {
  std::string_view text;
  bool first = false;
};

class PreTokenizer {
 public:
  explicit PreTokenizer(const TokenizerSpec& spec);

  struct Scratch {
    MatchScratch match;
    std::vector<std::string> buffers;  // one a step
  };
  using Emit = FunctionRef<void(std::string_view)>;

  // Calls `emit` with each word in order, none empty. In a byte-level tokenizer words are bytes, not their spelling.
  void run(TextPart part, Scratch& scratch, Emit emit) const;

 private:
  struct Step {
    PreTokenizerStep what;
    std::vector<Regex> regex;  // one, or none
  };
  using Next = FunctionRef<void(TextPart)>;
  void run_from(std::size_t step, TextPart part, Scratch& scratch, Emit emit) const;
  void split(const Step& step, TextPart part, Scratch& scratch, Next next) const;
  void rewrite(const Step& step, TextPart part, std::string& out) const;

  std::vector<Step> steps_;
  bool spelled_ = false;  // words come out in the byte alphabet and must be turned back
};

}  // namespace ridge::text
