#include "text/stop.h"

#include <gtest/gtest.h>

namespace ridge::text {

namespace {

struct Seen {
  std::string text;
  bool stopped;
  bool operator==(const Seen&) const = default;
};

// What is shown of a text that arrives in pieces of `step` bytes.
Seen run(std::vector<std::string> stops, std::string_view text, std::size_t step) {
  StopMatcher matcher(std::move(stops));
  std::string shown;
  for (std::size_t at = 0; at < text.size(); at += step) shown += matcher.push(text.substr(at, step));
  shown += matcher.finish();
  return {shown, matcher.stopped()};
}

}  // namespace

TEST(stop, found_across_every_border) {
  for (std::size_t step = 1; step < 12; ++step) {
    EXPECT_EQ(run({"\nUser:"}, "Hi there\nUser: no", step), (Seen{"Hi there", true})) << step;
    EXPECT_EQ(run({"\nUser:"}, "Hi\nUsers", step), (Seen{"Hi\nUsers", false})) << step;
    EXPECT_EQ(run({"aab"}, "aaab", step), (Seen{"a", true})) << step;
    EXPECT_EQ(run({"abcdef", "cd"}, "xabcdef", step), (Seen{"xab", true})) << step;  // the first to be complete
    EXPECT_EQ(run({"cd", "bcd"}, "abcd", step), (Seen{"a", true})) << step;          // the longest of those
    EXPECT_EQ(run({"€"}, "5 € ", step), (Seen{"5 ", true})) << step;
    EXPECT_EQ(run({}, "all", step), (Seen{"all", false})) << step;
    EXPECT_EQ(run({""}, "all", step), (Seen{"all", false})) << step;
    EXPECT_EQ(run({"x"}, "", step), (Seen{"", false})) << step;
  }
}

TEST(stop, holds_back_only_what_may_become_one) {
  StopMatcher matcher({"END", "EXIT"});
  EXPECT_EQ(matcher.push("the E"), "the ");
  EXPECT_EQ(matcher.push("N"), "");
  EXPECT_EQ(matcher.push("E"), "EN");
  EXPECT_EQ(matcher.push("XI"), "");
  EXPECT_EQ(matcher.push("T and more"), "");
  EXPECT_EQ(matcher.stop(), "EXIT");
  EXPECT_EQ(matcher.push("nothing"), "");
  EXPECT_EQ(matcher.finish(), "");
}

}  // namespace ridge::text
