// For tests: reference tokenizers and the ids that they give, kept compressed in tests/goldens (xz-utils unpacks them).
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace ridge::io {

inline std::string golden_path(std::string_view name) {
  return std::string(RIDGE_SOURCE_DIR) + "/tests/goldens/" + std::string(name);
}

inline std::string output_of(const std::string& command) {
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (!pipe) throw std::runtime_error("cannot run: " + command);
  std::string all;
  char buffer[1 << 16];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) all.append(buffer, n);
  if (::pclose(pipe) != 0) throw std::runtime_error("failed: " + command);
  return all;
}

inline std::string unpacked(std::string_view name) {
  return output_of("xz -dc '" + golden_path(name) + "'");
}  // Debian: xz-utils

// What the goldens tell apart: how a tokenizer encodes and decodes each text of tests/goldens/tokens/NAME.json.xz, and
// that a stream of its tokens gives the same text as the whole. Returns how many texts there were.
std::size_t expect_tokens_as_reference(const text::Tokenizer& tokenizer, std::string_view name);
// The same for tests/goldens/tokens/long.json.xz, where `name` is the tokenizer's name in that file.
std::size_t expect_long_tokens_as_reference(const text::Tokenizer& tokenizer, std::string_view name);

// Joins what a stream gives, checking that every piece is whole characters.
inline std::string streamed(const text::Tokenizer& tokenizer, const std::vector<text::TokenId>& ids,
                            text::SpecialTokens special = text::SpecialTokens::keep) {
  text::StreamDecoder stream(tokenizer, special);
  std::string all;
  for (text::TokenId id : ids) {
    const std::string piece = stream.push(id);
    EXPECT_TRUE(text::is_valid_utf8(piece));
    all += piece;
  }
  return all + stream.finish();
}

}  // namespace ridge::io
