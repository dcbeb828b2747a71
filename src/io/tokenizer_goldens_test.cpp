#include "io/tokenizer_goldens_test.h"

#include <nlohmann/json.hpp>

#include "io/hostile_files_test.h"

namespace ridge::io {

using text::Control;
using text::SpecialTokens;
using text::Tokenizer;
using text::Wrap;

namespace {

std::string sha256_of(std::string_view text) {
  const TempFolder folder;
  write_bytes(folder / "text", text);
  return output_of("sha256sum < '" + (folder / "text").string() + "'").substr(0, 64);
}

}  // namespace

// The reference finds control strings in the text, as that library does by default.
std::size_t expect_tokens_as_reference(const Tokenizer& tokenizer, std::string_view name) {
  const auto cases = nlohmann::json::parse(unpacked("tokens/" + std::string(name) + ".json.xz"));
  for (const auto& c : cases) {
    const std::string text = c["text"];
    const std::vector<text::TokenId> ids = c["ids"], wrapped = c["ids_special"];
    EXPECT_EQ(tokenizer.encode(text, {.wrap = Wrap::none, .control = Control::token}), ids) << text.substr(0, 200);
    EXPECT_EQ(tokenizer.encode(text, {.wrap = Wrap::post_processed, .control = Control::token}), wrapped)
        << text.substr(0, 200);
    EXPECT_EQ(tokenizer.decode(ids), c["decoded"].get<std::string>());
    EXPECT_EQ(tokenizer.decode(ids, SpecialTokens::skip), c["decoded_skip"].get<std::string>());
    EXPECT_EQ(streamed(tokenizer, ids), c["decoded"].get<std::string>());
    EXPECT_EQ(streamed(tokenizer, ids, SpecialTokens::skip), c["decoded_skip"].get<std::string>());
  }
  return cases.size();
}

std::size_t expect_long_tokens_as_reference(const Tokenizer& tokenizer, std::string_view name) {
  const auto all = nlohmann::json::parse(unpacked("tokens/long.json.xz"));
  const auto& expected = all["expected"].at(std::string(name));
  for (const auto& c : all["texts"]) {
    const std::string what = c["name"], text = c["text"];
    const std::vector<text::TokenId> ids = tokenizer.encode(text, {.wrap = Wrap::none, .control = Control::token});
    EXPECT_EQ(ids.size(), expected.at(what)["count"].get<std::size_t>()) << what;
    EXPECT_EQ(sha256_of(nlohmann::json(ids).dump()), expected.at(what)["sha256"].get<std::string>()) << what;
  }
  return all["texts"].size();
}

}  // namespace ridge::io
