// Tokenizers written to GGUF and read back: the ids stay those of the reference.
#include "io/tokenizer_gguf_write.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "io/gguf.h"
#include "io/gguf_pre.h"
#include "io/hostile_files_test.h"
#include "io/tokenizer_gguf.h"
#include "io/tokenizer_goldens_test.h"
#include "io/tokenizer_json.h"
#include "io/tokenizer_sentencepiece.h"

namespace ridge::io {

using text::Control;
using text::TokenId;
using text::Tokenizer;
using text::TokenizerSpec;

namespace {

using Notes = std::vector<std::string>;

std::size_t rows_for(const TokenizerSpec& spec) {
  std::size_t rows = spec.pieces.size();
  for (const text::AddedToken& t : spec.added) rows = std::max<std::size_t>(rows, t.id + 1);
  return rows;
}

class ReadBack {
 public:
  ReadBack(const TokenizerSpec& spec, std::size_t rows, Notes& notes) {
    GgufPairs pairs;
    put_gguf_tokenizer(spec, rows, pairs, notes);
    GgufWriter(folder_ / "t.gguf", pairs, {}).finish();
    file_.emplace(open_gguf(folder_ / "t.gguf"));
  }
  const GgufMetadata& metadata() const { return file_->metadata(); }
  Tokenizer tokenizer() const { return Tokenizer(read_gguf_tokenizer(metadata())); }

 private:
  TempFolder folder_;
  std::optional<GgufFile> file_;
};

TokenizerSpec json_golden(const std::string& name) {
  const std::string json = unpacked("tokenizers/" + name + ".tokenizer.json.xz");
  const std::string config = unpacked("tokenizers/" + name + ".tokenizer_config.json.xz");
  return read_tokenizer_json(json, "tokenizer.json", config, "tokenizer_config.json");
}

std::string refusal(const std::string& json) {
  return error_of([&] {
    Notes notes;
    const TokenizerSpec spec = read_tokenizer_json(json, "t.json");
    ReadBack(spec, rows_for(spec), notes);
  });
}

TEST(tokenizer_gguf_write, hugging_face_tokenizers_stay_as_the_reference) {
  for (const auto& [name, model, pre] :
       {std::tuple("llama3_2", "gpt2", "llama-bpe"), {"qwen3", "gpt2", "qwen2"}, {"llama2", "llama", "default"}}) {
    Notes notes;
    const TokenizerSpec spec = json_golden(name);
    const ReadBack back(spec, rows_for(spec) + 64, notes);
    EXPECT_EQ(back.metadata().get_string("tokenizer.ggml.model"), model);
    EXPECT_EQ(back.metadata().get_string("tokenizer.ggml.pre"), pre);
    EXPECT_EQ(back.metadata().get_strings("tokenizer.ggml.tokens").size(), rows_for(spec) + 64);
    EXPECT_TRUE(notes.empty()) << name << ": " << notes.front();
    const Tokenizer t = back.tokenizer();
    EXPECT_GT(expect_tokens_as_reference(t, name), 10u);
    EXPECT_EQ(t.eos(), spec.eos);
    EXPECT_EQ(t.padding(), spec.padding);
  }
}

// Such pieces are found after spaces were rewritten in the library, before that in GGUF files. That is said.
bool mentions_user_defined(const TokenizerSpec& spec, const std::string& text) {
  return std::any_of(spec.added.begin(), spec.added.end(), [&](const text::AddedToken& t) {
    return t.verbatim && text.find(t.content) != std::string::npos;
  });
}

TEST(tokenizer_gguf_write, sentencepiece_files_stay_as_the_library) {
  const auto golden = nlohmann::json::parse(unpacked("tokens/sentencepiece.json.xz"));
  for (const char* name : {"bytes", "no_prefix", "plain", "unused"}) {
    const std::string file = unpacked(std::string("tokenizers/sentencepiece_") + name + ".model.xz");
    const TokenizerSpec spec = read_sentencepiece(std::as_bytes(std::span(file)), "t.model");
    Notes notes;
    const Tokenizer before(spec);
    const Tokenizer after = ReadBack(spec, rows_for(spec), notes).tokenizer();
    std::size_t compared = 0;
    for (const std::string text : golden["texts"]) {
      if (mentions_user_defined(spec, text)) continue;
      EXPECT_EQ(after.encode(text), before.encode(text)) << name << ": " << text;
      ++compared;
    }
    EXPECT_GT(compared, golden["texts"].size() / 2) << name;
    const bool any = std::any_of(spec.added.begin(), spec.added.end(), [](const auto& t) { return t.verbatim; });
    ASSERT_EQ(notes.size(), any ? 1u : 0u) << name;
    if (any) {
      EXPECT_HAS(notes[0], "user-defined");
    }
  }
}

// A byte-level tokenizer of two letters, with its parts as given.
std::string small(const std::string& parts) {
  return R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}, "decoder": {"type": "ByteLevel"}, )" +
         parts + "}";
}
std::string splitting(const std::string& pattern) {
  return R"("pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Split", "pattern": {"Regex": ")" +
         pattern +
         R"("}, "behavior": "Isolated", "invert": false}, {"type": "ByteLevel", "add_prefix_space": false, "use_regex": false}]})";
}
constexpr const char* gpt2_steps = R"("pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false})";

TEST(tokenizer_gguf_write, what_gguf_has_no_word_for_is_refused_by_name) {
  EXPECT_HAS(refusal(small(splitting("[aeiou]+"))), "the pre-tokenizer ('[aeiou]+'; 0 normalizers) is none of those");
  EXPECT_HAS(refusal(small(R"("normalizer": {"type": "Lowercase"}, )" + std::string(gpt2_steps))), "1 normalizers");
  EXPECT_HAS(
      refusal(
          R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "ba": 3, "aba": 4}, "merges": ["a b", "b a", "ab a"]}})"),
      "normalizers, pre-tokenizer and decoder");
  const std::string sentencepiece =
      R"("normalizer": {"type": "Sequence", "normalizers": [{"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]}, "decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}]}})";
  EXPECT_HAS(
      refusal(
          R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "ba": 3, "aba": 4}, "merges": ["a b", "b a", "ab a"]}, )" +
          sentencepiece),
      "other ways to make that piece");
  EXPECT_HAS(
      refusal(
          R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "ba": 3, "aba": 4}, "merges": ["a b", "b a", "a b"]}, )" +
          sentencepiece),
      "is made earlier");
  EXPECT_HAS(
      refusal(
          R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"], "end_of_word_suffix": "</w>"}, "decoder": {"type": "ByteLevel"}, )" +
          std::string(gpt2_steps) + "}"),
      "end_of_word_suffix");
}

TEST(tokenizer_gguf_write, flags_and_tokens_that_are_lost_are_said) {
  Notes notes;
  TokenizerSpec spec = read_tokenizer_json(
      small(
          R"("added_tokens": [{"id": 3, "content": "<x>", "lstrip": true, "special": true}, {"id": 4, "content": "<y>"}], )" +
          std::string(gpt2_steps)),
      "t.json");
  spec.end_ids = {3, 0, 1, 2};
  const ReadBack back(spec, 4, notes);
  ASSERT_EQ(notes.size(), 4u);
  EXPECT_HAS(notes[0], "1 added tokens are left out");
  EXPECT_HAS(notes[1], "lstrip");
  EXPECT_HAS(notes[2], "token 1 also ends");
  const auto types = back.metadata().get_i32s("tokenizer.ggml.token_type");
  EXPECT_EQ(types, (std::vector<std::int32_t>{1, 1, 1, 3}));
  EXPECT_HAS(error_of([&] { ReadBack(spec, 2, notes); }), "token 2 is beyond the embedding's 2 rows");
}

TEST(gguf_pre, every_name_is_found_by_its_steps) {
  for (const char* name :
       {"gpt-2", "olmo", "smollm", "llama-bpe", "dbrx", "glm4", "qwen2", "deepseek-r1-qwen", "qwen35", "tekken",
        "gpt-4o", "bloom", "viking", "deepseek-llm", "deepseek-coder", "deepseek-v3", "falcon", "command-r"}) {
    TokenizerSpec spec;
    apply_gguf_pre(name, spec);
    TokenizerSpec found;
    const auto known = gguf_pre_of(spec);
    ASSERT_TRUE(known) << name;
    apply_gguf_pre(*known, found);
    EXPECT_EQ(found.pre_tokenizer.size(), spec.pre_tokenizer.size()) << name;
    EXPECT_EQ(found.ignore_merges, spec.ignore_merges) << name;
  }
}

}  // namespace
}  // namespace ridge::io
