#include "text/unicode.h"

#include <gtest/gtest.h>

#include "text/utf8.h"

namespace ridge::text {

namespace {
std::string normalized(Form form, std::string_view text) {
  std::string out;
  append_normalized(form, text, out);
  return out;
}
}  // namespace

// From UAX #15 (figures 3 to 6) and NormalizationTest.txt.
TEST(unicode, normal_forms) {
  EXPECT_EQ(normalized(Form::nfd, "\u212B\u1E69"), "A\u030As\u0323\u0307");
  EXPECT_EQ(normalized(Form::nfc, "A\u030As\u0307\u0323q\u0307\u0323"), "\u00C5\u1E69q\u0323\u0307");
  EXPECT_EQ(normalized(Form::nfkc, "\uFB01 2\u2075 \u1E9B\u0323"), "fi 25 \u1E69");
  EXPECT_EQ(normalized(Form::nfkd, "\u1E9B\u0323"), "s\u0323\u0307");
  EXPECT_EQ(normalized(Form::nfc, "\u1112\u1161\u11AB \uD558\u11AB"), "\uD55C \uD55C");
  EXPECT_EQ(normalized(Form::nfd, "\uD55C"), "\u1112\u1161\u11AB");
  EXPECT_EQ(normalized(Form::nfc, "\u0344\u0958"), "\u0308\u0301\u0915\u093C");  // excluded from composition
  EXPECT_EQ(normalized(Form::nfc, "plain 中文 text"), "plain 中文 text");
}

TEST(unicode, taking_apart_and_joining_gives_the_composed_form) {
  std::string text;
  for (char32_t c = 0xA0; c < 0x20000; ++c)
    if (c < 0xD800 || c > 0xDFFF) append_character(text, c);
  const std::string composed = normalized(Form::nfc, text);
  EXPECT_EQ(normalized(Form::nfc, composed), composed);
  EXPECT_EQ(normalized(Form::nfc, normalized(Form::nfd, text)), composed);
}

// Marks of falling classes, which a bubble sort would take hours for.
TEST(unicode, a_long_run_of_marks_takes_no_long_time) {
  std::string text = "a";
  for (int i = 0; i < 200000; ++i) text += i % 2 ? "\u0323" : "\u0301";
  const std::string got = normalized(Form::nfd, text);
  EXPECT_EQ(got.size(), text.size());
  EXPECT_EQ(got.substr(0, 5), "a\u0323\u0323");
}

TEST(unicode, lower_case_and_words) {
  std::string out;
  append_lowercase("ÀİΣß", out);
  EXPECT_EQ(out, "ài\u0307σß");
  EXPECT_TRUE(is_word(U'é') && is_word(U'_') && is_word(0x301) && is_word(U'٣') && is_word(U'中'));
  EXPECT_FALSE(is_word(U' ') || is_word(U'-') || is_word(U'²') || is_word(0x1F600));
}

}  // namespace ridge::text
