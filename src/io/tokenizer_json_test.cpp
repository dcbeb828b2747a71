#include "io/tokenizer_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "io/hostile_files_test.h"
#include "io/tokenizer_goldens_test.h"

namespace ridge::io {

using nlohmann::json;
using text::Control;
using text::SpecialTokens;
using text::TokenId;
using text::Tokenizer;
using text::Wrap;
using Ids = std::vector<TokenId>;

namespace {

Tokenizer golden(const std::string& name) {
  const std::string file = unpacked("tokenizers/" + name + ".tokenizer.json.xz");
  const std::string config = unpacked("tokenizers/" + name + ".tokenizer_config.json.xz");
  return Tokenizer(read_tokenizer_json(file, name, config, name + " config"));
}

// A small model of texts, to which each test adds what it is about.
json model() {
  return json::parse(R"json({
    "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
    "normalizer": null, "pre_tokenizer": null, "post_processor": null, "decoder": {"type": "Fuse"},
    "model": {"type": "BPE", "unk_token": "<unk>",
      "vocab": {"<unk>": 0, "a": 1, "b": 2, "c": 3, " ": 4, "ab": 5, "abc": 6, "▁": 7, "▁a": 8, "A": 9, "1": 10, "2": 11, "12": 12, "bc": 13},
      "merges": [["a", "b"], ["ab", "c"], ["▁", "a"], ["1", "2"], ["b", "c"]]}
  })json");
}
Tokenizer tokenizer_of(const json& j) { return Tokenizer(read_tokenizer_json(j.dump(), "test.json")); }
std::string refusal(const json& j) {
  return error_of([&] { tokenizer_of(j); });
}
std::string refusal_of(std::string_view text) {
  return error_of([&] { Tokenizer(read_tokenizer_json(text, "test.json")); });
}
json added(std::string content, TokenId id, const json& more = {}) {
  json t = {{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
            {"rstrip", false}, {"normalized", false}, {"special", false}};
  if (more.is_object()) t.update(more);
  return t;
}

}  // namespace

TEST(tokenizer_json, llama2_as_the_reference) {
  const Tokenizer t = golden("llama2");
  EXPECT_EQ(expect_tokens_as_reference(t, "llama2"), 534u);
  EXPECT_EQ(expect_long_tokens_as_reference(t, "llama2"), 20u);
  EXPECT_EQ(t.bos(), 1u);
  EXPECT_EQ(t.eos(), 2u);
}

TEST(tokenizer_json, llama3_2_as_the_reference) {
  const Tokenizer t = golden("llama3_2");
  EXPECT_EQ(expect_tokens_as_reference(t, "llama3_2"), 534u);
  EXPECT_EQ(expect_long_tokens_as_reference(t, "llama3_2"), 20u);
  EXPECT_EQ(t.bos(), 128000u);
}

TEST(tokenizer_json, qwen3_as_the_reference) {
  const Tokenizer t = golden("qwen3");
  EXPECT_EQ(expect_tokens_as_reference(t, "qwen3"), 534u);
  EXPECT_EQ(expect_long_tokens_as_reference(t, "qwen3"), 20u);
  EXPECT_EQ(t.eos(), 151645u);
  const Ids think = t.encode("<think>");  // added, but not special: always found
  EXPECT_EQ(think, Ids{151667});
  EXPECT_FALSE(t.is_special(151667));
  EXPECT_GT(t.encode("<|im_start|>").size(), 1u);
  EXPECT_EQ(t.encode("<|im_start|>", {.control = Control::token}), Ids{151644});
}

// A text with every character of every plane that UTF-8 spells, cut in pieces: byte-level tokenizers lose nothing, and
// a stream gives what the whole gives.
TEST(tokenizer_json, byte_level_gives_every_text_back) {
  const Tokenizer t = golden("llama3_2");
  std::string text;
  for (char32_t c = 0; c < 0x30000; c += c < 0x3000 ? 1 : 7) {
    if (c < 0xD800 || c > 0xDFFF) text::append_character(text, c);
    if (text.size() < 5000) continue;
    const Ids ids = t.encode(text);
    EXPECT_EQ(t.decode(ids), text);
    EXPECT_EQ(streamed(t, ids), text);
    text.clear();
  }
}

TEST(tokenizer_json, bytes_that_are_no_text_become_replacement_characters) {
  for (const char* name : {"llama3_2", "llama2"}) {
    const Tokenizer t = golden(name);
    std::uint32_t random = 1;
    for (int i = 0; i < 200; ++i) {
      std::string bytes;
      for (int n = 0; n < 40; ++n) bytes += static_cast<char>((random = random * 1664525 + 1013904223) >> 24);
      EXPECT_EQ(t.encode(bytes), t.encode(text::mended(bytes)));
      EXPECT_EQ(t.decode(t.encode(bytes)), text::mended(bytes));
    }
  }
}

// Any ids in any order: what a model may say.
TEST(tokenizer_json, streams_of_random_tokens_join_to_the_whole) {
  for (const char* name : {"llama3_2", "llama2", "qwen3"}) {
    const Tokenizer t = golden(name);
    std::uint32_t random = 7;
    for (int i = 0; i < 300; ++i) {
      Ids ids;
      for (int n = 0; n < 30; ++n) {
        random = random * 1664525 + 1013904223;
        ids.push_back(n % 3 ? (random >> 8) % 300 : (random >> 8) % (static_cast<TokenId>(t.size()) + 10));
      }
      EXPECT_EQ(streamed(t, ids), t.decode(ids));
      EXPECT_TRUE(text::is_valid_utf8(t.decode(ids)));
    }
  }
}

TEST(tokenizer_json, one_tokenizer_serves_several_threads) {
  const Tokenizer t = golden("llama3_2");
  const auto text = [](int i) {
    return fmt::format("The {}th text, naïve and 日本語: {}", i, std::string(i % 7, ' '));
  };
  std::vector<Ids> want;
  for (int i = 0; i < 200; ++i) want.push_back(t.encode(text(i)));
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        EXPECT_EQ(t.encode(text(i)), want[std::size_t(i)]);
        EXPECT_EQ(t.decode(want[std::size_t(i)]), text(i));
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(tokenizer_json, a_megabyte_without_a_space) {
  const std::string letters(1 << 20, 'a');
  std::string mixed;
  for (std::uint32_t i = 0; i < 1u << 20; ++i) mixed += static_cast<char>('a' + i * 7919 % 26);
  for (const char* name : {"llama3_2", "llama2", "qwen3"}) {
    const Tokenizer t = golden(name);
    EXPECT_EQ(t.decode(t.encode(letters)), letters);
    EXPECT_EQ(t.decode(t.encode(mixed)), mixed);
  }
}

TEST(tokenizer_json, merges_are_strings_or_pairs) {
  json j = model();
  EXPECT_EQ(tokenizer_of(j).encode("abcb"), (Ids{6, 2}));
  j["model"]["merges"] = {"a b", "ab c"};
  EXPECT_EQ(tokenizer_of(j).encode("abcb"), (Ids{6, 2}));
  j["model"]["merges"] = {"#version: 0.2", "a b"};
  EXPECT_EQ(tokenizer_of(j).encode("abcb"), (Ids{5, 3, 2}));
}

TEST(tokenizer_json, a_piece_may_hold_the_separator_where_merges_are_pairs) {
  json j = model();
  j["model"]["vocab"]["a b"] = 14;
  j["model"]["vocab"][" b"] = 15;
  j["model"]["merges"] = json::parse(R"([[" ", "b"], ["a", " b"]])");
  EXPECT_EQ(tokenizer_of(j).encode("a bc"), (Ids{14, 3}));
  j["model"]["merges"] = {"a  b"};
  EXPECT_HAS(refusal(j), "'model.merges[0]' is 'a  b'; accepted are two pieces with one space between");
}

TEST(tokenizer_json, ignore_merges_takes_a_word_that_is_a_piece) {
  json j = model();
  EXPECT_EQ(tokenizer_of(j).encode("bc"), (Ids{13}));
  j["model"]["merges"] = json::parse(R"([["a", "b"]])");
  EXPECT_EQ(tokenizer_of(j).encode("bc"), (Ids{2, 3}));
  j["model"]["ignore_merges"] = true;
  EXPECT_EQ(tokenizer_of(j).encode("bc"), (Ids{13}));
}

TEST(tokenizer_json, unknown_characters) {
  json j = model();
  EXPECT_EQ(tokenizer_of(j).encode("a??b"), (Ids{1, 0, 0, 2}));
  j["model"]["fuse_unk"] = true;
  EXPECT_EQ(tokenizer_of(j).encode("a??b?"), (Ids{1, 0, 2, 0}));
  j["model"]["vocab"]["<0x3F>"] = 14;
  j["model"]["byte_fallback"] = true;
  EXPECT_EQ(tokenizer_of(j).encode("a?é"), (Ids{1, 14, 0}));
  j["model"]["unk_token"] = nullptr;
  EXPECT_EQ(tokenizer_of(j).encode("aéb"), (Ids{5}));  // dropped, as the reference does
  j["model"]["unk_token"] = "<none>";
  EXPECT_HAS(error_of([&] { tokenizer_of(j).encode("é"); }), "the unknown token '<none>' is none");
}

TEST(tokenizer_json, added_tokens_with_all_their_flags) {
  json j = model();
  j["added_tokens"] = json::array({added("<x>", 14), added("<s>", 15, {{"special", true}})});
  EXPECT_EQ(tokenizer_of(j).encode("a<x>b<s>"), (Ids{1, 14, 2, 0, 0, 0}));
  EXPECT_EQ(tokenizer_of(j).encode("a<x>b<s>", {.control = Control::token}), (Ids{1, 14, 2, 15}));
  EXPECT_EQ(tokenizer_of(j).decode(Ids{1, 15, 14}, SpecialTokens::skip), "a<x>");
  j["added_tokens"][0]["lstrip"] = true;
  EXPECT_EQ(tokenizer_of(j).encode("a  <x> b"), (Ids{1, 14, 4, 2}));
  j["added_tokens"][0]["rstrip"] = true;
  EXPECT_EQ(tokenizer_of(j).encode("a  <x>\n b"), (Ids{1, 14, 2}));
  j["added_tokens"] = json::array({added("cab", 14, {{"single_word", true}})});
  EXPECT_EQ(tokenizer_of(j).encode("cab cab"), (Ids{14, 4, 14}));
  EXPECT_EQ(tokenizer_of(j).encode("cabc"), (Ids{3, 6}));
  EXPECT_EQ(tokenizer_of(j).encode("écab"), (Ids{0, 3, 5}));
  j["added_tokens"] = json::array({added("AA", 14, {{"normalized", true}})});
  j["normalizer"] = {{"type", "Lowercase"}};
  EXPECT_EQ(tokenizer_of(j).encode("aAb AA"), (Ids{14, 2, 4, 14}));
  j["added_tokens"] = json::array({added("aab", 14), added("aa", 15), added("a", 1)});
  EXPECT_EQ(tokenizer_of(j).encode("aabaaa"), (Ids{14, 15, 1}));  // the longest counts
}

TEST(tokenizer_json, normalizers) {
  json j = model();
  const auto encode = [&](const json& normalizer, std::string_view text) {
    j["normalizer"] = normalizer;
    return tokenizer_of(j).encode(text);
  };
  j["model"]["vocab"].update(
      json{{"é", 14}, {"e", 15}, {"\xCC\x81", 16}, {"fi", 17}, {"f", 18}, {"i", 19}, {"한", 20}});
  EXPECT_EQ(encode({{"type", "NFC"}}, "e\xCC\x81"), (Ids{14}));
  EXPECT_EQ(encode({{"type", "NFC"}}, "\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB"), (Ids{20}));
  EXPECT_EQ(encode({{"type", "NFD"}}, "é"), (Ids{15, 16}));
  EXPECT_EQ(encode({{"type", "NFKC"}}, "ﬁ①"), (Ids{18, 19, 10}));
  EXPECT_EQ(encode({{"type", "NFKD"}}, "é"), (Ids{15, 16}));
  EXPECT_EQ(encode({{"type", "Lowercase"}}, "AB"), (Ids{5}));
  EXPECT_EQ(encode({{"type", "Prepend"}, {"prepend", "▁"}}, "a"), (Ids{8}));
  EXPECT_EQ(encode({{"type", "Prepend"}, {"prepend", "▁"}}, ""), (Ids{}));
  EXPECT_EQ(encode({{"type", "Replace"}, {"pattern", {{"String", "1"}}}, {"content", "ab"}}, "1c"), (Ids{6}));
  EXPECT_EQ(encode({{"type", "Replace"}, {"pattern", {{"Regex", "[0-9]+"}}}, {"content", "a"}}, "123b45"), (Ids{5, 1}));
  EXPECT_EQ(encode({{"type", "Strip"}, {"strip_left", true}, {"strip_right", false}}, " \na "), (Ids{1, 4}));
  EXPECT_EQ(encode({{"type", "Sequence"}, {"normalizers", {{{"type", "NFD"}}, {{"type", "StripAccents"}}}}}, "é"),
            (Ids{15}));
}

TEST(tokenizer_json, pre_tokenizers) {
  json j = model();
  j["model"]["ignore_merges"] = true;  // each word that is a piece shows as that piece
  j["model"]["vocab"].update(json{{"a b", 14}, {"b ", 15}, {" b", 16}, {"aa", 17}, {",", 18}, {"▁b", 19}});
  const auto encode = [&](const json& pre, std::string_view text) {
    j["pre_tokenizer"] = pre;
    return tokenizer_of(j).encode(text);
  };
  const auto split = [](const std::string& behavior, bool invert = false) {
    return json{{"type", "Split"}, {"pattern", {{"String", " "}}}, {"behavior", behavior}, {"invert", invert}};
  };
  EXPECT_EQ(encode(nullptr, "a b"), (Ids{14}));
  EXPECT_EQ(encode(split("Isolated"), "a b"), (Ids{1, 4, 2}));
  EXPECT_EQ(encode(split("Removed"), "a b"), (Ids{1, 2}));
  EXPECT_EQ(encode(split("Removed", true), "a b"), (Ids{4}));
  EXPECT_EQ(encode(split("MergedWithPrevious"), "b b"), (Ids{15, 2}));
  EXPECT_EQ(encode(split("MergedWithNext"), "b b"), (Ids{2, 16}));
  EXPECT_EQ(encode(json{{"type", "Digits"}, {"individual_digits", true}}, "12"), (Ids{10, 11}));
  EXPECT_EQ(encode(json{{"type", "Digits"}, {"individual_digits", false}}, "12a"), (Ids{12, 1}));
  EXPECT_EQ(encode(json{{"type", "Punctuation"}, {"behavior", "Removed"}}, "a,b"), (Ids{1, 2}));
  EXPECT_EQ(encode(json{{"type", "Whitespace"}}, "ab ,\n c"), (Ids{5, 18, 3}));
  EXPECT_EQ(encode(json{{"type", "WhitespaceSplit"}}, "ab\tc"), (Ids{5, 3}));
  EXPECT_EQ(encode(json{{"type", "CharDelimiterSplit"}, {"delimiter", ","}}, "a,b"), (Ids{1, 2}));
  EXPECT_EQ(encode(json{{"type", "FixedLength"}, {"length", 2}}, "aab"), (Ids{17, 2}));
  const auto metaspace = [](const std::string& scheme) {
    return json{{"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", scheme}};
  };
  j["added_tokens"] = json::array({added("<x>", 20)});
  EXPECT_EQ(encode(metaspace("always"), "a b<x>a"), (Ids{8, 19, 20, 8}));
  EXPECT_EQ(encode(metaspace("first"), "a b<x>a"), (Ids{8, 19, 20, 1}));
  EXPECT_EQ(encode(metaspace("never"), "a b"), (Ids{1, 19}));
  EXPECT_EQ(encode(json{{"type", "Metaspace"}, {"replacement", "▁"}, {"add_prefix_space", true}}, "a"), (Ids{8}));
}

TEST(tokenizer_json, byte_level_with_a_prefix_space) {
  json j = model();
  j["model"]["vocab"] = {{"Ġ", 0}, {"a", 1}, {"Ġa", 2}, {"Ã", 3}, {"©", 4}};
  j["model"]["merges"] = json::parse(R"([["Ġ", "a"]])");
  j["model"]["unk_token"] = nullptr;
  j["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"trim_offsets", true}};
  j["decoder"] = {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"trim_offsets", true}};
  const Tokenizer t = tokenizer_of(j);
  EXPECT_EQ(t.encode("a a"), (Ids{2, 2}));
  EXPECT_EQ(t.encode(" a"), (Ids{2}));
  EXPECT_EQ(t.encode("é"), (Ids{0, 3, 4}));
  EXPECT_EQ(t.decode(Ids{2, 3, 4, 3}), " aé\xEF\xBF\xBD");
  EXPECT_EQ(t.token_text(2), " a");
  EXPECT_EQ(t.token_spelling(2), "Ġa");
}

TEST(tokenizer_json, decoders) {
  json j = model();
  const auto decode = [&](const json& decoder, const Ids& ids) {
    j["decoder"] = decoder;
    const Tokenizer t = tokenizer_of(j);
    EXPECT_EQ(streamed(t, ids), t.decode(ids));
    return t.decode(ids);
  };
  j["model"]["vocab"].update(json{{"<0xC3>", 14}, {"<0xA9>", 15}, {"c</w>", 16}});
  EXPECT_EQ(decode(nullptr, {1, 2, 5}), "a b ab");
  EXPECT_EQ(decode(json{{"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", "always"}}, {8, 8, 7}), "a a ");
  EXPECT_EQ(decode(json{{"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", "never"}}, {8, 8}), " a a");
  EXPECT_EQ(decode(json{{"type", "BPEDecoder"}, {"suffix", "</w>"}}, {1, 16, 2, 16}), "ac bc");
  EXPECT_EQ(decode(json{{"type", "ByteFallback"}}, {1, 14, 15, 2}), "aéb");
  EXPECT_EQ(decode(json{{"type", "ByteFallback"}}, {14, 15, 14}), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  const json strip = {{"type", "Strip"}, {"content", "a"}, {"start", 2}, {"stop", 0}};
  EXPECT_EQ(decode(strip, {1, 5, 1, 2}), "bb");
  EXPECT_EQ(decode(json{{"type", "Sequence"}, {"decoders", {{{"type", "Fuse"}}, strip}}}, {1, 5, 1, 2}), "bab");
  EXPECT_EQ(decode(json{{"type", "Replace"}, {"pattern", {{"Regex", "[ab]"}}}, {"content", "x"}}, {5, 3}), "xxc");
}

TEST(tokenizer_json, post_processors) {
  json j = model();
  const auto encode = [&](const json& post) {
    j["post_processor"] = post;
    return tokenizer_of(j).encode("a", {.wrap = Wrap::post_processed});
  };
  const json wrapped = json::parse(R"({"type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "b", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "c", "type_id": 0}}],
    "pair": [], "special_tokens": {"b": {"id": "b", "ids": [2, 13], "tokens": ["b", "bc"]}, "c": {"id": "c", "ids": [3], "tokens": ["c"]}}})");
  EXPECT_EQ(encode(wrapped), (Ids{2, 13, 1, 3}));
  EXPECT_EQ(encode({{"type", "Sequence"}, {"processors", {wrapped, {{"type", "ByteLevel"}}, wrapped}}}),
            (Ids{2, 13, 2, 13, 1, 3, 3}));
  EXPECT_EQ(encode({{"type", "RobertaProcessing"}, {"sep", {"c", 3}}, {"cls", {"b", 2}}}), (Ids{2, 1, 3}));
}

TEST(tokenizer_json, the_configuration_names_roles_and_adds_tokens) {
  json j = model();
  const std::string config =
      R"({"bos_token": "<s>", "eos_token": {"content": "b", "special": true}, "pad_token": null, "add_bos_token": true,
    "added_tokens_decoder": {"14": {"content": "<s>", "special": true, "normalized": false}, "2": {"content": "b"}}})";
  const Tokenizer t(read_tokenizer_json(j.dump(), "t.json", config, "config.json"));
  EXPECT_EQ(t.bos(), 14u);
  EXPECT_EQ(t.eos(), 2u);
  EXPECT_FALSE(t.padding());
  EXPECT_EQ(t.encode("a<s>", {.wrap = Wrap::post_processed, .control = Control::token}), (Ids{14, 1, 14}));
  const std::string wrong = R"({"added_tokens_decoder": {"99": {"content": "<s>"}}})";
  EXPECT_HAS(error_of([&] { read_tokenizer_json(j.dump(), "t.json", wrong, "config.json"); }),
             "config.json: 'added_tokens_decoder.99': token '<s>' says that its id is 99");
}

TEST(tokenizer_json, other_kinds_are_refused_by_name) {
  for (const char* type : {"Unigram", "WordPiece", "WordLevel"}) {
    json j = model();
    j["model"]["type"] = type;
    EXPECT_HAS(refusal(j), type);
  }
  EXPECT_HAS(refusal_of(R"({"model": {"vocab": [["a", -1.5], [["deep"], {}]], "unk_id": 0, "type": "Unigram"}})"),
             "'Unigram' is not supported; accepted is BPE");
  for (const auto& [place, step, what] : std::vector<std::tuple<std::string, json, std::string>>{
           {"normalizer",
            {{"type", "Precompiled"}},
            "'normalizer': the normalizer 'Precompiled' is not supported; accepted are NFC"},
           {"pre_tokenizer", {{"type", "BertPreTokenizer"}}, "'BertPreTokenizer' is not supported"},
           {"decoder", {{"type", "WordPiece"}}, "the decoder 'WordPiece' is not supported"},
           {"decoder",
            {{"type", "Sequence"}, {"decoders", {{{"type", "CTC"}}}}},
            "'decoder.decoders[0]': the decoder 'CTC'"},
           {"post_processor", {{"type", "Other"}}, "the post-processor 'Other' is not supported"},
           {"pre_tokenizer",
            {{"type", "Split"}, {"pattern", {{"Regex", "["}}}, {"behavior", "Isolated"}},
            "regular expression '['"},
           {"pre_tokenizer",
            {{"type", "Split"}, {"pattern", {{"String", ""}}}, {"behavior", "Isolated"}},
            "a split at the empty text"},
           {"pre_tokenizer",
            {{"type", "Split"}, {"pattern", {{"String", "a"}}}, {"behavior", "Sideways"}},
            "'Sideways' is not known"}}) {
    json j = model();
    j[place] = step;
    EXPECT_HAS(refusal(j), what);
  }
}

TEST(tokenizer_json, what_does_not_hold_together_is_refused) {
  const auto with_model = [](const std::string& key, const json& v) {
    json j = model();
    j["model"][key] = v;
    return refusal(j);
  };
  EXPECT_HAS(with_model("merges", json::parse(R"([["a", "x"]])")),
             "merge 0 ('a' with 'x'): its right half is not in the vocabulary");
  EXPECT_HAS(with_model("merges", json::parse(R"([["b", "a"]])")), "their join is not in the vocabulary");
  EXPECT_HAS(with_model("merges", json::parse(R"([["a"]])")), "'model.merges[0]' has not two pieces");
  EXPECT_HAS(with_model("merges", json::parse(R"([["a", "b", "c"]])")), "has more than two pieces");
  EXPECT_HAS(with_model("merges", json::parse(R"([["a", 1]])")),
             "'model.merges[0]' is not a string or an array of two");
  EXPECT_HAS(with_model("merges", json::parse(R"([[["a"], "b"]])")), "is not a string or an array of two");
  EXPECT_HAS(with_model("merges", true), "'model.merges': is missing, or is not an array");
  EXPECT_HAS(with_model("merges", {{"a", "b"}}), "is missing, or is not an array");
  EXPECT_HAS(with_model("vocab", true), "'model.vocab': is missing, or is not an object");
  EXPECT_HAS(with_model("vocab", {{"a", -1}}), "the id of 'a' is not a whole number, or negative");
  EXPECT_HAS(with_model("vocab", {{"a", 1.5}}), "the id of 'a' is not a whole number");
  EXPECT_HAS(with_model("vocab", {{"a", "b"}}), "the id of 'a' is not a whole number");
  EXPECT_HAS(with_model("vocab", {{"a", 5000000000}}), "'a' has the id 5000000000; ids below 2097152 are accepted");
  EXPECT_HAS(with_model("vocab", {{"a", 1}, {"b", 1}}), "'a' and 'b' both have the id 1");
  EXPECT_HAS(with_model("dropout", 0.1), "'model.dropout': is not 0");
  EXPECT_HAS(refusal_of(R"({"model": {"type": "BPE", "vocab": {"a": 0, "a": 1}, "merges": []}})"),
             "pieces 0 and 1 are both 'a'");
  EXPECT_HAS(refusal_of(R"({"model": {"type": "BPE", "merges": []}})"), "'model.vocab': is missing");
  EXPECT_HAS(refusal_of("{\"model\": "), "test.json: at byte 11");
  EXPECT_HAS(refusal_of(""), "is not JSON");
  EXPECT_HAS(refusal_of("[]"), "wanted an object");
  EXPECT_HAS(refusal_of(std::string(100000, '[')), "nested deeper than 64");
  EXPECT_HAS(refusal_of("{\"model\": {\"merges\": " + std::string(100000, '[')), "is not a string");
  EXPECT_HAS(refusal_of("{\"model\": {\"vocab\": " + std::string(100000, '[')), "nested deeper than 64");
  json j = model();
  j["added_tokens"] = json::array({added("<x>", 20)});
  EXPECT_HAS(refusal(j), "'added_tokens[0]': token '<x>' says that its id is 20, but the vocabulary gives it 14");
  j["added_tokens"] = json::array({added(std::string(2000, 'x'), 14)});
  EXPECT_HAS(refusal(j), "has 2000 bytes; at most 1024 are accepted");
  j["added_tokens"] = json::array({added("<x>", 14, {{"special", "yes"}})});
  EXPECT_HAS(refusal(j), "'added_tokens[0].special': wanted true or false");
}

TEST(tokenizer_json, a_cut_file_is_refused) {
  const std::string whole = model().dump();
  for (std::size_t n = 0; n < whole.size(); ++n) refusal_of(std::string_view(whole).substr(0, n));
}

TEST(tokenizer_json, loaded_from_a_folder_or_a_file) {
  const TempFolder folder;
  EXPECT_HAS(error_of([&] { load_tokenizer(folder.path()); }), "neither tokenizer.json nor tokenizer.model is there");
  write_bytes(folder / "tokenizer.json", model().dump());
  write_bytes(folder / "tokenizer_config.json", R"({"bos_token": "a"})");
  EXPECT_EQ(Tokenizer(load_tokenizer(folder.path())).bos(), 1u);
  EXPECT_EQ(Tokenizer(load_tokenizer(folder / "tokenizer.json")).bos(), 1u);
}

}  // namespace ridge::io
