#include "text/utf8.h"

#include <gtest/gtest.h>

#include "text/byte_alphabet.h"

namespace ridge::text {

namespace {
constexpr std::string_view R = replacement_character;
std::string repeated(int n) {
  std::string s;
  while (n-- > 0) s += R;
  return s;
}
}  // namespace

// The examples of Unicode 15, section 3.9, tables 3-8 to 3-11: one U+FFFD for each maximal ill-formed part.
TEST(utf8, ill_formed_parts_as_unicode_counts_them) {
  EXPECT_EQ(mended("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"), repeated(8) + "A");
  EXPECT_EQ(mended("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41"), repeated(8) + "A");
  EXPECT_EQ(mended("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42"), repeated(5) + "A" + repeated(2) + "B");
  EXPECT_EQ(mended("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), repeated(4) + "A");
}

TEST(utf8, every_character_goes_there_and_back) {
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    std::string s;
    append_character(s, c);
    const Character got = first_character(s);
    ASSERT_TRUE(got.valid && got.code == c && got.size == s.size() && character_bytes(s[0]) == s.size())
        << std::uint32_t(c);
  }
}

TEST(utf8, a_stream_gives_what_the_whole_gives_wherever_it_is_cut) {
  const std::string bytes = "aé€😀\xFF\xF0\x9F\x98z\xE2\x82\xC3\xA9\x80\xF4\x90 end\xF0\x9F";
  for (std::size_t step = 1; step < bytes.size(); ++step) {
    Utf8Stream stream;
    std::string all;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      std::string piece;
      stream.push(std::string_view(bytes).substr(at, step), piece);
      EXPECT_TRUE(is_valid_utf8(piece));
      all += piece;
    }
    stream.finish(all);
    EXPECT_EQ(all, mended(bytes)) << step;
  }
}

TEST(utf8, the_byte_alphabet_is_gpt2s) {
  EXPECT_EQ(character_of_byte(' '), U'Ġ');
  EXPECT_EQ(character_of_byte('\n'), U'Ċ');
  EXPECT_EQ(character_of_byte(0xAD), char32_t(0x143));
  EXPECT_EQ(character_of_byte('a'), U'a');
  for (int b = 0; b < 256; ++b) EXPECT_EQ(byte_of_character(character_of_byte(static_cast<unsigned char>(b))), b);
  std::string out = "x";
  EXPECT_TRUE(append_bytes_of("ĠÃ©", out));
  EXPECT_EQ(out, "x é");
  EXPECT_FALSE(append_bytes_of("a▁", out));
  EXPECT_FALSE(append_bytes_of("a ", out));
  EXPECT_FALSE(append_bytes_of("a\xC3", out));
  EXPECT_EQ(out, "x é");
}

}  // namespace ridge::text
