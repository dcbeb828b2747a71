// Regular expressions of pre-tokenizers, through PCRE2 with its JIT compiler. They are written for Oniguruma, the
// engine of the reference: `to_pcre2` says the same in PCRE2's syntax, or refuses.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace ridge::text {

// Fails (input) where a construct of Oniguruma has no exact equal here; `source` is for the message.
std::string to_pcre2(std::string_view oniguruma, std::string_view source);

// Memory of one match at a time; patterns may share it, threads may not.
class MatchScratch {
 public:
  MatchScratch();
  ~MatchScratch();
  MatchScratch(const MatchScratch&) = delete;
  MatchScratch& operator=(const MatchScratch&) = delete;

 private:
  friend class Regex;
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

struct Match {
  std::size_t begin = 0, end = 0;
};

class Regex {
 public:
  // Oniguruma's syntax. Fails (input) on one that is wrong, too long or not to be had exactly.
  Regex(std::string_view oniguruma, std::string_view source);
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;
  ~Regex();

  // The first match in text[from…], which is valid UTF-8 and seen whole by look-behind. Fails (input) where a match
  // needs more steps or memory than the limits allow.
  bool find(std::string_view text, std::size_t from, MatchScratch& scratch, Match& match) const;

 private:
  struct Code;
  std::unique_ptr<Code> code_;
};

// All matches one after another, as Oniguruma's find_iter gives them: an empty match right behind the last one is none.
class Matches {
 public:
  Matches(const Regex& regex, std::string_view text, MatchScratch& scratch)
      : regex_(regex), text_(text), scratch_(scratch) {}
  bool next(Match& match);

 private:
  const Regex& regex_;
  std::string_view text_;
  MatchScratch& scratch_;
  std::size_t from_ = 0;
  std::size_t last_end_ = std::string_view::npos;
};

}  // namespace ridge::text
