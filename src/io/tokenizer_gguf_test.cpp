#include "io/tokenizer_gguf.h"

#include <gtest/gtest.h>

#include <cmath>

#include "io/gguf.h"
#include "io/gguf_pre.h"
#include "io/hostile_files_test.h"
#include "io/tokenizer_goldens_test.h"

namespace ridge::io {

using text::Control;
using text::TokenId;
using text::Tokenizer;
using text::Wrap;

namespace {

enum class Element : std::uint32_t { f32 = 6, i32 = 5, u32 = 4, boolean = 7, string = 8 };

// The header of a GGUF file with no tensors, key by key.
class Header {
 public:
  Header& text(std::string_view key, std::string_view v) {
    return start(key, 8).add([&](Bytes& b) { b.string(v); });
  }
  Header& id(std::string_view key, std::uint32_t v) {
    return start(key, 4).add([&](Bytes& b) { b.number(v); });
  }
  Header& truth(std::string_view key, bool v) {
    return start(key, 7).add([&](Bytes& b) { b.plain(std::uint8_t(v)); });
  }
  Header& texts(std::string_view key, const std::vector<std::string>& v) {
    return start(key, 9).add([&](Bytes& b) {
      b.number(std::uint32_t(8)).number(std::uint64_t(v.size()));
      for (const std::string& s : v) b.string(s);
    });
  }
  template <class T> Header& numbers(std::string_view key, std::uint32_t type, const std::vector<T>& v) {
    return start(key, 9).add([&](Bytes& b) {
      b.number(type).number(std::uint64_t(v.size()));
      for (T x : v) b.number(x);
    });
  }
  Header& floats(std::string_view key, const std::vector<float>& v) { return numbers(key, 6, v); }
  Header& ints(std::string_view key, const std::vector<std::int32_t>& v) { return numbers(key, 5, v); }

  Bytes bytes() const {
    Bytes all;
    all.plain(std::uint32_t(0x46554747)).plain(std::uint32_t(3)).number(std::uint64_t(0)).number(count_);
    const std::size_t shift = all.text.size();
    all.text += pairs_.text;
    for (Field f : pairs_.fields) all.fields.push_back({f.offset + shift, f.width});
    all.pad(32);
    return all;
  }

 private:
  Header& start(std::string_view key, std::uint32_t type) {
    pairs_.string("tokenizer.ggml." + std::string(key)).number(type);
    ++count_;
    return *this;
  }
  template <class F> Header& add(F f) {
    f(pairs_);
    return *this;
  }
  Bytes pairs_;
  std::uint64_t count_ = 0;
};

Tokenizer tokenizer_of(std::span<const std::byte> bytes) {
  return Tokenizer(read_gguf_tokenizer(parse_gguf(bytes, "test.gguf").metadata));
}
Tokenizer tokenizer_of(const Header& h) {
  const Bytes bytes = h.bytes();
  return tokenizer_of(bytes.span());
}
std::string refusal(const Header& h) {
  return error_of([&] { tokenizer_of(h); });
}

Header byte_level(const std::vector<std::string>& merges = {"a b", "ab c"}) {
  Header h;
  h.text("model", "gpt2").text("pre", "gpt-2").texts("tokens", {"a", "b", "c", "ab", "abc", "<|end|>", "Ġ", "<extra>"});
  h.ints("token_type", {1, 1, 1, 1, 1, 3, 1, 4}).texts("merges", merges).id("eos_token_id", 5);
  return h;
}

Header sentencepiece() {
  Header h;
  h.text("model", "llama")
      .texts("tokens",
             {"<unk>", "<s>", "</s>", "<0x0A>", "<0xE2>", "<0x82>", "<0xAC>", "▁", "a", "b", "ab", "▁a", "▁ab"});
  h.floats("scores", {0, 0, 0, 0, 0, 0, 0, -7, -8, -9, -2, -1, -3})
      .ints("token_type", {2, 3, 3, 6, 6, 6, 6, 1, 1, 1, 1, 1, 1});
  h.id("bos_token_id", 1).id("eos_token_id", 2).id("unknown_token_id", 0);
  return h;
}

}  // namespace

TEST(tokenizer_gguf, smollm2_as_the_reference) {
  const std::string file = unpacked("tokenizers/smollm2.gguf.xz");
  const Tokenizer t = tokenizer_of(std::as_bytes(std::span(file)));
  EXPECT_EQ(t.size(), 49152u);
  EXPECT_EQ(t.bos(), 1u);
  EXPECT_EQ(t.eos(), 2u);
  EXPECT_EQ(expect_tokens_as_reference(t, "smollm2_135m_instruct_q4_1"), 534u);
  EXPECT_EQ(expect_long_tokens_as_reference(t, "smollm2_135m_instruct_q4_1"), 20u);
}

TEST(tokenizer_gguf, control_tokens_in_a_text_stay_text_unless_asked) {
  const std::string file = unpacked("tokenizers/smollm2.gguf.xz");
  const Tokenizer t = tokenizer_of(std::as_bytes(std::span(file)));
  const std::string text = "<|im_start|>user\nHi<|im_end|>";
  const auto as_text = t.encode(text), as_control = t.encode(text, {.control = Control::token});
  EXPECT_EQ(as_control.front(), 1u);
  EXPECT_EQ(as_control.back(), 2u);
  EXPECT_EQ(std::count_if(as_text.begin(), as_text.end(), [&](TokenId id) { return t.is_special(id); }), 0);
  EXPECT_EQ(t.decode(as_text), text);
  EXPECT_EQ(t.decode(as_control), text);
  EXPECT_EQ(t.decode(as_control, text::SpecialTokens::skip), "user\nHi");
  EXPECT_EQ(t.find("<|im_end|>"), 2u);
  EXPECT_EQ(t.find("Ġthe"), t.encode(" the").front());
}

TEST(tokenizer_gguf, byte_level_merges_and_added_tokens) {
  const Tokenizer t = tokenizer_of(byte_level());
  EXPECT_EQ(t.encode("abcab ab"), (std::vector<TokenId>{4, 3, 6, 3}));
  EXPECT_EQ(t.encode("ab<extra>c"), (std::vector<TokenId>{3, 7, 2}));  // defined by the user: always found
  EXPECT_EQ(t.encode("a<|end|>", {.control = Control::token}), (std::vector<TokenId>{0, 5}));
  EXPECT_EQ(t.encode("abc", {.wrap = Wrap::post_processed}), (std::vector<TokenId>{4}));  // gpt-2 adds nothing
  EXPECT_EQ(t.end_ids().size(), 1u);
}

// Scores: "▁a" (-1) forms before "ab" (-2), so that "▁ab" comes from both halves, and "▁a", "b" is what is left of
// "▁ab" only if it could not merge; unknown characters fall back to bytes, and to the unknown token where those are
// missing.
TEST(tokenizer_gguf, sentencepiece_scores_bytes_and_spaces) {
  const Tokenizer t = tokenizer_of(sentencepiece());
  EXPECT_EQ(t.encode("ab"), (std::vector<TokenId>{12}));
  EXPECT_EQ(t.encode("ab ab"), (std::vector<TokenId>{12, 12}));
  EXPECT_EQ(t.encode("abb", {.wrap = Wrap::post_processed}), (std::vector<TokenId>{1, 12, 9}));
  EXPECT_EQ(t.encode("€"), (std::vector<TokenId>{7, 4, 5, 6}));
  EXPECT_EQ(t.encode("a?!b"), (std::vector<TokenId>{11, 0, 9}));
  EXPECT_EQ(t.decode(std::vector<TokenId>{1, 12, 12, 4, 5, 6, 3}), "<s> ab ab€\n");
  EXPECT_EQ(t.decode(std::vector<TokenId>{12, 12}), "ab ab");
  EXPECT_EQ(t.decode(std::vector<TokenId>{12, 4, 5, 12}), "ab\xEF\xBF\xBD\xEF\xBF\xBD ab");
  text::StreamDecoder middle(t, text::SpecialTokens::keep, text::Position::middle);
  EXPECT_EQ(middle.push(12), " ab");
}

TEST(tokenizer_gguf, no_space_prefix_where_the_file_says_so) {
  Header h = sentencepiece();
  h.truth("add_space_prefix", false).truth("add_bos_token", false);
  const Tokenizer t = tokenizer_of(h);
  EXPECT_EQ(t.encode("ab ab", {.wrap = Wrap::post_processed}), (std::vector<TokenId>{10, 12}));
  EXPECT_EQ(t.decode(std::vector<TokenId>{12, 12}), " ab ab");
}

TEST(tokenizer_gguf, what_does_not_hold_together_is_refused_by_name) {
  EXPECT_HAS(refusal(byte_level({"a b", "a x"})), "merge 1 ('a' with 'x'): its right half is not in the vocabulary");
  EXPECT_HAS(refusal(byte_level({"b c"})), "their join is not in the vocabulary");
  EXPECT_HAS(refusal(byte_level({"a b c"})), "merge 0 is 'a b c'");
  EXPECT_HAS(refusal(byte_level({"ab"})), "with one space between");
  EXPECT_HAS(refusal(Header().text("model", "t5")), "'t5' is not supported; accepted are 'gpt2'");
  EXPECT_HAS(refusal(Header().text("model", "gpt2").text("pre", "kimi-k2").texts("tokens", {"a"}).texts("merges", {})),
             "'kimi-k2' is not supported");
  EXPECT_HAS(refusal(Header().text("model", "gpt2").texts("tokens", {"a"}).texts("merges", {})),
             "'tokenizer.ggml.pre' is missing");
  EXPECT_HAS(
      refusal(Header().text("model", "gpt2").text("pre", "gpt-2").texts("tokens", {"a", "a"}).texts("merges", {})),
      "pieces 0 and 1 are both 'a'");
  EXPECT_HAS(refusal(Header()
                         .text("model", "gpt2")
                         .text("pre", "gpt-2")
                         .texts("tokens", {"a"})
                         .texts("merges", {})
                         .id("eos_token_id", 9)),
             "is 9, but there are 1 tokens");
  EXPECT_HAS(refusal(Header()
                         .text("model", "gpt2")
                         .text("pre", "gpt-2")
                         .texts("tokens", {"a"})
                         .texts("merges", {})
                         .ints("token_type", {1, 1})),
             "has 2 elements");
  EXPECT_HAS(refusal(Header()
                         .text("model", "gpt2")
                         .text("pre", "gpt-2")
                         .texts("tokens", {"a"})
                         .texts("merges", {})
                         .ints("token_type", {-3})),
             "has type -3");
  EXPECT_HAS(refusal(Header()
                         .text("model", "gpt2")
                         .text("pre", "gpt-2")
                         .texts("tokens", {"a"})
                         .texts("merges", {})
                         .truth("add_bos_token", true)),
             "bos_token_id' is missing");
  EXPECT_HAS(refusal(Header()
                         .text("model", "llama")
                         .truth("add_bos_token", false)
                         .texts("tokens", {"a"})
                         .floats("scores", {std::nanf("")})),
             "not a finite number");
}

TEST(tokenizer_gguf, spoiled_headers_are_refused_or_read) {
  for (const Header& h : {byte_level(), sentencepiece()})
    EXPECT_GT(spoil_everything(h.bytes(), [](std::span<const std::byte> b) { tokenizer_of(b).encode("ab a€b"); }), 100);
}

TEST(tokenizer_gguf, every_pattern_compiles_and_cuts_a_text) {
  for (std::string_view name :
       {"gpt-2",        "phi-2",          "olmo",        "mpt",       "jais",      "smollm",           "starcoder",
        "refact",       "codeshell",      "command-r",   "llama-bpe", "llama3",    "llama-v3",         "lfm2",
        "dbrx",         "chatglm-bpe",    "glm4",        "qwen2",     "stablelm2", "deepseek-r1-qwen", "qwen35",
        "tekken",       "gpt-4o",         "llama4",      "bloom",     "poro-chat", "gpt3-finnish",     "viking",
        "deepseek-llm", "deepseek-coder", "deepseek-v3", "falcon"}) {
    Header h;
    std::vector<std::string> tokens;
    for (int b = 33; b < 127; ++b) tokens.push_back(std::string(1, static_cast<char>(b)));
    tokens.push_back("Ġ");
    h.text("model", "gpt2").text("pre", name).texts("tokens", tokens).texts("merges", {}).id("bos_token_id", 0);
    const Tokenizer t = tokenizer_of(h);
    EXPECT_EQ(t.decode(t.encode("Don't panic: 12345 a_b  c")), "Don't panic: 12345 a_b  c") << name;
  }
}

}  // namespace ridge::io
