#include "io/gguf_pre.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "base/error.h"
#include "io/quote.h"

namespace ridge::io {

namespace {

using text::PreTokenizerStep;
using Kind = PreTokenizerStep::Kind;
using Behavior = PreTokenizerStep::Behavior;

#define RIDGE_TAIL R"(\s*[\r\n]+|\s+(?!\S)|\s+)"
#define RIDGE_CONTRACTIONS R"((?i:'s|'t|'re|'ve|'m|'ll|'d))"
#define RIDGE_UPPER R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])"
#define RIDGE_LOWER R"([\p{Ll}\p{Lm}\p{Lo}\p{M}])"

constexpr const char* gpt2 = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr const char* digit = R"(\p{N})";
constexpr const char* cl100k =
    RIDGE_CONTRACTIONS R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|)" RIDGE_TAIL;
constexpr const char* qwen2 =
    RIDGE_CONTRACTIONS R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|)" RIDGE_TAIL;
constexpr const char* qwen35 =
    RIDGE_CONTRACTIONS R"(|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|)" RIDGE_TAIL;
constexpr const char* tekken = R"([^\r\n\p{L}\p{N}]?)" RIDGE_UPPER "*" RIDGE_LOWER R"(+|[^\r\n\p{L}\p{N}]?)" RIDGE_UPPER
                               "+" RIDGE_LOWER R"(*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" RIDGE_TAIL;
constexpr const char* o200k =
    R"([^\r\n\p{L}\p{N}]?)" RIDGE_UPPER "*" RIDGE_LOWER "+" RIDGE_CONTRACTIONS R"(?|[^\r\n\p{L}\p{N}]?)" RIDGE_UPPER
    "+" RIDGE_LOWER "*" RIDGE_CONTRACTIONS R"(?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" RIDGE_TAIL;
constexpr const char* bloom = R"( ?[^(\s|.,!?…。，、।۔،)]+)";
constexpr const char* deepseek_letters =
    R"(\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-\x{1f7d}ᾀ-ᾴᾶ-ᾼ\x{1fbe}ῂ-ῄῆ-ῌῐ-\x{1fd3}ῖ-\x{1fdb}ῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤ\x{2126}ℨ\x{212a}-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+)";
constexpr const char* deepseek_marks = R"(\s?[!-/:-~！-／：-～‘-‟　-。]+)";
constexpr const char* deepseek_ideographs = R"([一-龥ࠀ-一가-퟿]+)";
constexpr const char* deepseek_v3 =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|)" RIDGE_TAIL;
constexpr const char* punctuation = R"([!-/:-@\[-`{-~\p{P}])";

#undef RIDGE_TAIL
#undef RIDGE_CONTRACTIONS
#undef RIDGE_UPPER
#undef RIDGE_LOWER

// Patterns apply one after another, each match a part of its own.
struct Family {
  std::string_view name;
  std::array<const char*, 6> patterns{};
  bool nfc = false, ignore_merges = false, bos = false;
};

constexpr Family families[] = {
    {.name = "gpt-2", .patterns = {gpt2}},
    {.name = "phi-2", .patterns = {gpt2}},
    {.name = "olmo", .patterns = {gpt2}, .nfc = true},
    {.name = "mpt", .patterns = {gpt2}, .nfc = true},
    {.name = "jais", .patterns = {gpt2}},
    {.name = "smollm", .patterns = {digit, gpt2}},
    {.name = "starcoder", .patterns = {digit, gpt2}},
    {.name = "refact", .patterns = {digit, gpt2}},
    {.name = "codeshell", .patterns = {digit, gpt2}},
    {.name = "command-r", .patterns = {digit, gpt2}, .nfc = true},
    {.name = "llama-bpe", .patterns = {cl100k}, .ignore_merges = true, .bos = true},
    {.name = "llama3", .patterns = {cl100k}, .ignore_merges = true, .bos = true},
    {.name = "llama-v3", .patterns = {cl100k}, .ignore_merges = true, .bos = true},
    {.name = "lfm2", .patterns = {cl100k}, .ignore_merges = true, .bos = true},
    {.name = "dbrx", .patterns = {cl100k}},
    {.name = "chatglm-bpe", .patterns = {cl100k}},
    {.name = "glm4", .patterns = {cl100k}, .ignore_merges = true},
    {.name = "qwen2", .patterns = {qwen2}, .nfc = true},
    {.name = "stablelm2", .patterns = {qwen2}, .nfc = true},
    {.name = "deepseek-r1-qwen", .patterns = {qwen2}},
    {.name = "qwen35", .patterns = {qwen35}, .nfc = true},
    {.name = "tekken", .patterns = {tekken}, .ignore_merges = true, .bos = true},
    {.name = "gpt-4o", .patterns = {o200k}},
    {.name = "llama4", .patterns = {o200k}},
    {.name = "bloom", .patterns = {bloom}},
    {.name = "poro-chat", .patterns = {bloom}},
    {.name = "gpt3-finnish", .patterns = {bloom}},
    {.name = "viking", .patterns = {bloom, digit}},
    {.name = "deepseek-llm",
     .patterns = {"[\r\n]", deepseek_letters, deepseek_marks, R"(\s+$)", deepseek_ideographs, digit}},
    {.name = "deepseek-coder", .patterns = {"[\r\n]", R"(\s?\p{L}+)", R"(\s?\p{P}+)", deepseek_ideographs, digit}},
    {.name = "deepseek-v3", .patterns = {R"(\p{N}{1,3})", "[一-龥぀-ゟ゠-ヿ]+", deepseek_v3}},
};

PreTokenizerStep split(const char* pattern, Behavior behavior = Behavior::isolated) {
  PreTokenizerStep step;
  step.kind = Kind::split_regex;
  step.pattern = pattern;
  step.behavior = behavior;
  return step;
}

// Falcon splits digits after its text is spelled in the byte alphabet, where some bytes read as digits (² ³ ¹ ¼ ½ ¾).
void apply_falcon(text::TokenizerSpec& spec) {
  PreTokenizerStep spelled;
  spelled.kind = Kind::spell_bytes;
  spec.pre_tokenizer = {split(punctuation, Behavior::contiguous), split(gpt2), spelled,
                        split(digit, Behavior::contiguous), split("[0-9][0-9][0-9]")};
}

std::string accepted_names() {
  std::string names = "falcon";
  for (const Family& f : families) names += fmt::format(", {}", f.name);
  return names;
}

// What is left out of a comparison: a space put before the text has its own key, and the last step spells bytes in
// every byte-level tokenizer.
std::span<const PreTokenizerStep> core(const std::vector<PreTokenizerStep>& steps) {
  std::span<const PreTokenizerStep> part(steps);
  if (!part.empty() && part.front().kind == Kind::prefix_space) part = part.subspan(1);
  if (!part.empty() && part.back().kind == Kind::spell_bytes) part = part.first(part.size() - 1);
  return part;
}

bool same(const PreTokenizerStep& a, const PreTokenizerStep& b) {
  return a.kind == b.kind && a.pattern == b.pattern && a.behavior == b.behavior && a.invert == b.invert &&
         a.prepend == b.prepend && a.length == b.length;
}

bool same_steps(const text::TokenizerSpec& a, const text::TokenizerSpec& b) {
  const auto same_kind = [](const text::NormalizerStep& x, const text::NormalizerStep& y) { return x.kind == y.kind; };
  const auto x = core(a.pre_tokenizer), y = core(b.pre_tokenizer);
  return a.ignore_merges == b.ignore_merges && std::equal(x.begin(), x.end(), y.begin(), y.end(), same) &&
         std::equal(a.normalizer.begin(), a.normalizer.end(), b.normalizer.begin(), b.normalizer.end(), same_kind);
}

}  // namespace

std::optional<std::string_view> gguf_pre_of(const text::TokenizerSpec& spec) {
  const auto is = [&](std::string_view name) {
    text::TokenizerSpec steps;
    apply_gguf_pre(name, steps);
    return same_steps(steps, spec);
  };
  for (const Family& f : families)
    if (is(f.name)) return f.name;
  if (is("falcon")) return "falcon";
  return std::nullopt;
}

bool apply_gguf_pre(std::string_view name, text::TokenizerSpec& spec) {
  if (name == "falcon") {
    apply_falcon(spec);
    return false;
  }
  for (const Family& f : families) {
    if (f.name != name) continue;
    if (f.nfc) spec.normalizer.push_back({.kind = text::NormalizerStep::Kind::nfc});
    for (const char* pattern : f.patterns)
      if (pattern) spec.pre_tokenizer.push_back(split(pattern));
    spec.ignore_merges = f.ignore_merges;
    return f.bos;
  }
  if (name.empty())
    fail_input(
        "{}: key 'tokenizer.ggml.pre' is missing, so how the text is cut into words is not known; accepted are {}",
        spec.source, accepted_names());
  fail_input("{}: key 'tokenizer.ggml.pre': the pre-tokenizer {} is not supported; accepted are {}", spec.source,
             quote(name), accepted_names());
}

}  // namespace ridge::io
