#include "io/tokenizer_sentencepiece.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "io/hostile_files_test.h"
#include "io/tokenizer_goldens_test.h"
#include "io/tokenizer_json.h"

namespace ridge::io {

using text::Control;
using text::TokenId;
using text::Tokenizer;
using text::Wrap;
using Ids = std::vector<TokenId>;

namespace {

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }
std::string model(const std::string& name) { return unpacked("tokenizers/sentencepiece_" + name + ".model.xz"); }
Tokenizer tokenizer_of(std::string_view file) { return Tokenizer(read_sentencepiece(bytes_of(file), "test.model")); }
std::string refusal(std::string_view file) {
  return error_of([&] { tokenizer_of(file); });
}

// Protocol-buffer fields, written by hand.
std::string varint(std::uint64_t v) {
  std::string out;
  for (; v >= 0x80; v >>= 7) out += static_cast<char>(v | 0x80);
  return out + static_cast<char>(v);
}
std::string field(int number, std::string_view content) {
  return varint(std::uint64_t(number) << 3 | 2) + varint(content.size()) + std::string(content);
}
std::string field(int number, std::uint64_t v) { return varint(std::uint64_t(number) << 3) + varint(v); }
std::string field(int number, float v) {
  return varint(std::uint64_t(number) << 3 | 5) + std::string(reinterpret_cast<const char*>(&v), 4);
}
std::string piece(std::string_view text, float score, std::uint64_t type) {
  return field(1, field(1, text) + field(2, score) + field(3, type));
}
std::string small_model(std::uint64_t model_type = 2) {
  return piece("<unk>", 0, 2) + piece("<s>", 0, 3) + piece("</s>", 0, 3) + piece("\xE2\x96\x81", -1, 1) +
         piece("a", -2, 1) + field(2, field(3, model_type));
}

}  // namespace

// Text of five models: byte fallback with user-defined pieces, unknown characters, no dummy prefix and pieces across
// spaces, the default rules (nmt_nfkc), and pieces that are unused.
TEST(tokenizer_sentencepiece, ids_are_those_of_the_library) {
  const auto golden = nlohmann::json::parse(unpacked("tokens/sentencepiece.json.xz"));
  EXPECT_EQ(golden["ids"].size(), 5u);
  for (const auto& [name, ids] : golden["ids"].items()) {
    const std::string file = model(name);
    EXPECT_TRUE(looks_like_sentencepiece(bytes_of(file)));
    const Tokenizer t = tokenizer_of(file);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const std::string text = golden["texts"][i];
      const Ids got = t.encode(text);
      EXPECT_EQ(got, ids[i].get<Ids>()) << name << ": " << text;
      EXPECT_EQ(streamed(t, got), t.decode(got));
    }
  }
}

TEST(tokenizer_sentencepiece, control_pieces_are_tokens_when_asked) {
  const std::string file = model("bytes");
  const Tokenizer t = tokenizer_of(file);
  EXPECT_GT(t.encode("<ctl>").size(), 1u);
  EXPECT_EQ(t.encode("<ctl>", {.control = Control::token}), Ids{*t.find("<ctl>")});
  EXPECT_EQ(t.encode("Free", {.wrap = Wrap::post_processed}), (Ids{1, *t.find("▁"), *t.find("Free")}));
  EXPECT_EQ(t.decode(t.encode("Free as in  freedom\n日本")), "Free as in  freedom\n日本");
}

TEST(tokenizer_sentencepiece, loaded_from_a_folder_with_its_configuration) {
  const TempFolder folder;
  write_bytes(folder / "tokenizer.model", model("bytes"));
  EXPECT_EQ(Tokenizer(load_tokenizer(folder.path())).prefix().size(), 1u);
  write_bytes(folder / "tokenizer_config.json",
              R"({"add_bos_token": false, "add_eos_token": true, "eos_token": "</s>"})");
  const Tokenizer t(load_tokenizer(folder.path()));
  EXPECT_TRUE(t.prefix().empty());
  EXPECT_EQ(Ids(t.suffix().begin(), t.suffix().end()), Ids{2});
}

TEST(tokenizer_sentencepiece, other_models_are_refused_by_name) {
  EXPECT_HAS(refusal(model("unigram")), "the tokenizer model Unigram is not supported; accepted is BPE");
  EXPECT_HAS(refusal(small_model(3)), "the tokenizer model WORD is not supported");
  EXPECT_HAS(refusal(small_model(1) + field(2, field(3, std::uint64_t(99)))), "of an unknown type");
}

TEST(tokenizer_sentencepiece, what_does_not_hold_together_is_refused) {
  EXPECT_EQ(tokenizer_of(small_model()).encode("a"), (Ids{3, 4}));
  EXPECT_HAS(refusal(""), "it has no pieces");
  EXPECT_HAS(refusal("\x0A"), "at byte 1: a number that the message ends in");
  EXPECT_HAS(refusal("\x0A\x7F"), "at byte 2: a field that is longer than what is left of its message");
  EXPECT_HAS(refusal("\x0A" + varint(~std::uint64_t(0))), "longer than what is left");
  EXPECT_HAS(refusal("\x0A" + std::string(11, '\xFF')), "a number of more than 64 bits");
  EXPECT_HAS(refusal(std::string(1, '\0')), "a field number that there cannot be");
  EXPECT_HAS(refusal("\x0B"), "a kind of field that is not in use");
  EXPECT_HAS(refusal(field(1, std::uint64_t(5))), "field 1 is of another kind");
  EXPECT_HAS(refusal(small_model() + piece("b", 0, 9)), "piece 5 ('b') has type 9");
  EXPECT_HAS(refusal(small_model() + piece("\xFF", 0, 1)), "piece 5 is not UTF-8");
  EXPECT_HAS(refusal(small_model() + piece("", 0, 1)), "piece 5 is empty");
  EXPECT_HAS(refusal(small_model() + piece("a", 0, 1)), "pieces 4 and 5 are both 'a'");
  EXPECT_HAS(refusal(small_model() + field(2, field(41, std::uint64_t(77)))),
             "the bos token is 77, but there are 5 pieces");
  EXPECT_HAS(refusal(small_model() + field(3, field(2, "\xFF\xFF\xFF\x7F"))), "rules whose table does not fit");
}

TEST(tokenizer_sentencepiece, spoiled_files_are_refused_or_read) {
  std::string file = model("nfkc");
  const auto attempt = [&](std::string_view bytes) {
    const std::vector<char> exact(bytes.begin(), bytes.end());
    try {
      tokenizer_of({exact.data(), exact.size()}).encode("a ﬁ① b\xCC\x81");
    } catch (const Error& e) {
      EXPECT_EQ(e.fault(), Fault::input) << e.what();
    }
  };
  std::uint32_t random = 3;
  for (int i = 0; i < 300; ++i) {
    random = random * 1664525 + 1013904223;
    const std::size_t at = random % file.size();
    attempt(std::string_view(file).substr(0, at));
    const char old = file[at];
    file[at] = static_cast<char>(random >> 24);
    attempt(file);
    file[at] = old;
  }
}

}  // namespace ridge::io
