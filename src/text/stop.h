// Stop strings, found across the borders of the pieces in which a text arrives.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ridge::text {

class StopMatcher {
 public:
  // Empty stop strings are none.
  explicit StopMatcher(std::vector<std::string> stops);

  // Takes the next piece of text; returns what can be shown: neither part of a stop string nor what may become one. The
  // first stop string to be complete ends the text in front of it (of several that end at once, the longest); after
  // that nothing is returned.
  std::string push(std::string_view piece);
  std::string finish();  // the text ends here: what was held back

  bool stopped() const { return stop_.has_value(); }
  const std::optional<std::string>& stop() const { return stop_; }  // which one

 private:
  std::size_t held_size() const;  // the longest end of `held_` that starts a stop string

  std::vector<std::string> stops_;
  std::string held_;
  std::optional<std::string> stop_;
};

}  // namespace ridge::text
