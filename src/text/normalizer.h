// The normalizer: text to text, before words are found.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "text/charsmap.h"
#include "text/regex.h"
#include "text/tokenizer_spec.h"

namespace ridge::text {

class Normalizer {
 public:
  explicit Normalizer(const TokenizerSpec& spec);

  bool does_nothing() const { return steps_.empty(); }

  // `text` is valid UTF-8. The result lies in `text`
  // itself or in one of the two buffers, which `text` may not.
  std::string_view run(std::string_view text, std::string (&buffers)[2], MatchScratch& scratch) const;

 private:
  struct Step {
    NormalizerStep what;
    std::vector<Regex> regex;        // one, or none
    std::vector<Charsmap> charsmap;  // one, or none
  };
  bool changes(const Step& step, std::string_view text) const;
  void apply(const Step& step, std::string_view text, std::string& out, MatchScratch& scratch) const;

  std::vector<Step> steps_;
};

// Appends `text` with every `pattern` (not empty) replaced.
void append_replaced(std::string_view text, std::string_view pattern, std::string_view content, std::string& out);
void append_replaced(std::string_view text, const Regex& pattern, std::string_view content, MatchScratch& scratch,
                     std::string& out);

}  // namespace ridge::text
