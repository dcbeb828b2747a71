#include "text/regex.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace ridge::text {

namespace {

// All matches, joined with bars. What is expected was seen with Oniguruma, through tokenizers 0.23.
std::string matches(std::string_view pattern, std::string_view text) {
  const Regex regex(pattern, "test");
  MatchScratch scratch;
  Matches all(regex, text, scratch);
  std::string out;
  for (Match m; all.next(m);) (out += text.substr(m.begin, m.end - m.begin)) += '|';
  return out;
}

std::string refusal(std::string_view pattern) {
  try {
    Regex(pattern, "test");
  } catch (const Error& e) {
    EXPECT_EQ(e.fault(), Fault::input);
    return e.what();
  }
  return "";
}

}  // namespace

TEST(regex, white_space_is_unicodes) {
  EXPECT_EQ(matches(R"(\s+)", "a\u0085\u00A0b\u180Ec\u3000d"), "\u0085\u00A0|\u3000|");  // U+180E is no space since 6.3
  EXPECT_EQ(matches(R"([^\S\n]+)", "a \n\tb"), " |\t|");
  EXPECT_EQ(matches(R"([\s-]+)", "a -b"), " -|");
}

TEST(regex, words_digits_and_borders) {
  EXPECT_EQ(matches(R"(\w+)", "a_1\u0301 \u203F ² ⓐ \u09F4"), "a_1\u0301|\u203F|²|ⓐ|");
  EXPECT_EQ(matches(R"([\w]+)", "a²"), "a|");
  EXPECT_EQ(matches(R"(\W+)", "a² ½-"), " |-|");
  EXPECT_EQ(matches(R"(\d+)", "12 ٣ ²"), "12|٣|");
  EXPECT_EQ(matches(R"(\d{1,3}(?=(?:\d{3})*\b))", "1234567"), "1|234|567|");
  EXPECT_EQ(matches(R"(\h+)", "xAf0g"), "Af0|");  // hexadecimal digits, not horizontal space
}

TEST(regex, scripts_do_not_take_their_extensions) {
  EXPECT_EQ(matches(R"(\p{Katakana}+)", "カーー"), "カ|");  // U+30FC is Common, though used with Katakana
  EXPECT_EQ(matches(R"(\p{^L}+)", "a1b"), "1|");
}

TEST(regex, lines_and_dots) {
  EXPECT_EQ(matches("^a|a$", "a\na\nba"), "a|a|a|");
  EXPECT_EQ(matches(".+", "a\r\nb"), "a\r|b|");
  EXPECT_EQ(matches("(?m:.+)", "a\nb"), "a\nb|");
  EXPECT_EQ(matches(R"(\s+$)", "a  \n b  "), "  |  |");
}

TEST(regex, repeats) {
  EXPECT_EQ(matches("a{,2}", "aaa"), "aa|a|");
  EXPECT_EQ(matches("a{x}", "a{x}"), "a{x}|");
  EXPECT_EQ(matches("a*", "baac"), "|aa||");  // none right behind "aa"
  EXPECT_EQ(matches("(?i:'s)", "'S 'ſ"), "'S|'ſ|");
}

TEST(regex, what_cannot_be_matched_exactly_is_refused) {
  EXPECT_NE(refusal("[a&&b]").find("intersection"), std::string::npos);
  EXPECT_NE(refusal("[a[b]]").find("a set inside a set"), std::string::npos);
  EXPECT_NE(refusal("a{1,2}+").find("possessive"), std::string::npos);
  EXPECT_NE(refusal("a(?i)b|c").find("only at the start"), std::string::npos);
  EXPECT_NE(refusal("(?~a)").find("not supported"), std::string::npos);
  EXPECT_NE(refusal("\\X").find("not supported"), std::string::npos);
  EXPECT_NE(refusal("\\xFF").find("above 7F"), std::string::npos);
  EXPECT_NE(refusal("[").find("without ]"), std::string::npos);
  EXPECT_NE(refusal("(").find("regular expression '('"), std::string::npos);
  EXPECT_NE(refusal("a\\").find("a backslash at the end"), std::string::npos);
  EXPECT_NE(refusal("\\p{Nonsense}").find("unknown property"), std::string::npos);
  EXPECT_NE(refusal(std::string("a\0b", 3)).find("zero byte"), std::string::npos);
  EXPECT_NE(refusal("\xFF").find("not UTF-8"), std::string::npos);
  EXPECT_NE(refusal(std::string(100000, 'a')).find("100000 bytes"), std::string::npos);
}

// Exponential in the text: an error, not a machine that hangs.
TEST(regex, a_pattern_that_blows_up_ends_in_an_error) {
  EXPECT_THROW(matches("(a|aa)+$", std::string(60, 'a') + "b"), Error);
  EXPECT_THROW(matches(R"((\w+\s?)*[xy])", std::string(60, 'a') + " !"), Error);
}

TEST(regex, long_texts) {
  const std::string spaces(1 << 20, ' '), letters(1 << 20, 'a');
  EXPECT_EQ(matches(R"(\s+(?!\S)|\s+)", spaces + "a").size(), spaces.size() + 2);
  EXPECT_EQ(matches(R"(\s+$)", spaces + "a"), "");
  EXPECT_EQ(matches(R"((?:a)+)", letters).size(), letters.size() + 1);
  EXPECT_EQ(matches(R"((?:a|b)+)", letters).size(), letters.size() + 1);
}

}  // namespace ridge::text
