#include "io/tokenizer_json_steps.h"

#include <fmt/core.h>

#include <functional>

#include "io/quote.h"

namespace ridge::io {

namespace {

using text::DecoderStep;
using text::NormalizerStep;
using text::PreTokenizerStep;
using text::TokenId;
using text::TokenizerSpec;
using Behavior = PreTokenizerStep::Behavior;

constexpr const char* gpt2_pattern = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// Calls `one` for a step, or for each step of a Sequence in order. Depth is bounded by the parser's.
void each_step(const JsonField& field, std::string_view list,
               const std::function<void(const JsonField&, const std::string&)>& one) {
  if (!field.is_there()) return;
  const std::string type = field["type"].text();
  if (type != "Sequence") return one(field, type);
  for (const JsonField& step : field[list].elements()) each_step(step, list, one);
}

[[noreturn]] void refuse(const JsonField& field, std::string_view what, const std::string& type,
                         std::string_view accepted) {
  field.fail(fmt::format("the {} {} is not supported; accepted are {}", what, quote(type), accepted));
}

struct Pattern {
  bool regex;
  std::string text;
};

Pattern pattern_of(const JsonField& field) {
  const JsonField literal = field["String"];
  return literal.is_there() ? Pattern{false, literal.text()} : Pattern{true, field["Regex"].text()};
}

std::string one_character(const JsonField& field) {
  const std::string text = field.text();
  std::size_t lead = 0;
  for (char c : text) lead += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  if (lead != 1) field.fail("wanted one character");
  return text;
}

Behavior behavior_of(const JsonField& field) {
  const std::string name = field.text("Isolated");
  if (name == "Removed") return Behavior::removed;
  if (name == "Isolated") return Behavior::isolated;
  if (name == "MergedWithPrevious") return Behavior::merged_with_previous;
  if (name == "MergedWithNext") return Behavior::merged_with_next;
  if (name == "Contiguous") return Behavior::contiguous;
  field.fail(fmt::format(
      "{} is not known; accepted are Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous", quote(name)));
}

PreTokenizerStep split(std::string_view pattern, Behavior behavior, bool invert = false) {
  PreTokenizerStep step;
  step.kind = PreTokenizerStep::Kind::split_regex;
  step.pattern = pattern;
  step.behavior = behavior;
  step.invert = invert;
  return step;
}

void add_split(const JsonField& field, TokenizerSpec& spec) {
  const Pattern pattern = pattern_of(field["pattern"]);
  PreTokenizerStep step = split(pattern.text, behavior_of(field["behavior"]), field["invert"].truth(false));
  if (!pattern.regex) step.kind = PreTokenizerStep::Kind::split_text;
  spec.pre_tokenizer.push_back(std::move(step));
}

// Older files say add_prefix_space, newer ones prepend_scheme.
PreTokenizerStep::Prepend prepend_of(const JsonField& field) {
  using Prepend = PreTokenizerStep::Prepend;
  const JsonField scheme = field["prepend_scheme"];
  const std::string name = scheme.text("always");
  const bool allowed = field["add_prefix_space"].truth(true);
  if (name != "always" && name != "first" && name != "never")
    scheme.fail(fmt::format("{} is not known; accepted are always, first, never", quote(name)));
  if (!allowed && scheme.is_there() && name != "never")
    field.fail("add_prefix_space is false, but prepend_scheme is not never");
  if (!allowed || name == "never") return Prepend::never;
  return name == "first" ? Prepend::first : Prepend::always;
}

void add_metaspace(const JsonField& field, TokenizerSpec& spec) {
  PreTokenizerStep step;
  step.kind = PreTokenizerStep::Kind::metaspace;
  step.pattern = one_character(field["replacement"]);
  step.prepend = prepend_of(field);
  spec.pre_tokenizer.push_back(step);
  if (!field["split"].truth(true)) return;
  step.kind = PreTokenizerStep::Kind::split_text;
  step.behavior = Behavior::merged_with_next;
  spec.pre_tokenizer.push_back(step);
}

void add_byte_level(const JsonField& field, TokenizerSpec& spec) {
  if (spec.spelling == text::Spelling::bytes) field.fail("a second ByteLevel");
  spec.spelling = text::Spelling::bytes;
  PreTokenizerStep step;
  step.kind = PreTokenizerStep::Kind::prefix_space;
  if (field["add_prefix_space"].truth()) spec.pre_tokenizer.push_back(step);
  if (field["use_regex"].truth(true)) spec.pre_tokenizer.push_back(split(gpt2_pattern, Behavior::isolated));
  step.kind = PreTokenizerStep::Kind::spell_bytes;
  spec.pre_tokenizer.push_back(step);
}

void add_pre_tokenizer(const JsonField& field, const std::string& type, TokenizerSpec& spec) {
  auto& steps = spec.pre_tokenizer;
  if (type == "ByteLevel") return add_byte_level(field, spec);
  if (type == "Split") return add_split(field, spec);
  if (type == "Metaspace") return add_metaspace(field, spec);
  if (type == "Digits") {
    const bool single = field["individual_digits"].truth();
    steps.push_back(split(R"(\p{N})", single ? Behavior::isolated : Behavior::contiguous));
  } else if (type == "Punctuation") {
    steps.push_back(split(R"([!-/:-@\[-`{-~\p{P}])", behavior_of(field["behavior"])));
  } else if (type == "Whitespace") {
    steps.push_back(split(R"([\w\x{200c}\x{200d}]+|[^\w\x{200c}\x{200d}\s]+)", Behavior::removed, true));
  } else if (type == "WhitespaceSplit") {
    steps.push_back(split(R"(\s)", Behavior::removed));
  } else if (type == "CharDelimiterSplit") {
    PreTokenizerStep step = split(one_character(field["delimiter"]), Behavior::removed);
    step.kind = PreTokenizerStep::Kind::split_text;
    steps.push_back(step);
  } else if (type == "FixedLength") {
    PreTokenizerStep step;
    step.kind = PreTokenizerStep::Kind::fixed_length;
    step.length = field["length"].is_there() ? field["length"].count(1 << 30) : 5;
    steps.push_back(step);
  } else {
    refuse(field, "pre-tokenizer", type,
           "ByteLevel, Split, Metaspace, Digits, Punctuation, Whitespace, WhitespaceSplit, CharDelimiterSplit, "
           "FixedLength, Sequence");
  }
}

void add_normalizer(const JsonField& field, const std::string& type, TokenizerSpec& spec) {
  using Kind = NormalizerStep::Kind;
  NormalizerStep step;
  if (type == "NFC") step.kind = Kind::nfc;
  else if (type == "NFD") step.kind = Kind::nfd;
  else if (type == "NFKC") step.kind = Kind::nfkc;
  else if (type == "NFKD") step.kind = Kind::nfkd;
  else if (type == "Lowercase") step.kind = Kind::lowercase;
  else if (type == "StripAccents") step.kind = Kind::strip_accents;
  else if (type == "Nmt") step.kind = Kind::nmt;
  else if (type == "Prepend") {
    step.kind = Kind::prepend;
    step.content = field["prepend"].text();
  } else if (type == "Strip") {
    step.kind = Kind::strip;
    step.left = field["strip_left"].truth();
    step.right = field["strip_right"].truth();
  } else if (type == "Replace") {
    Pattern pattern = pattern_of(field["pattern"]);
    step.kind = pattern.regex ? Kind::replace_regex : Kind::replace_text;
    step.pattern = std::move(pattern.text);
    step.content = field["content"].text();
  } else {
    refuse(field, "normalizer", type,
           "NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, Nmt, Prepend, Strip, Replace, Sequence");
  }
  spec.normalizer.push_back(std::move(step));
}

void add_decoder(const JsonField& field, const std::string& type, TokenizerSpec& spec) {
  using Kind = DecoderStep::Kind;
  DecoderStep step;
  if (type == "ByteLevel") step.kind = Kind::byte_level;
  else if (type == "ByteFallback") step.kind = Kind::byte_fallback;
  else if (type == "Fuse") step.kind = Kind::fuse;
  else if (type == "Strip") {
    step.kind = Kind::strip;
    step.pattern = one_character(field["content"]);
    step.start = field["start"].count(1 << 20);
    step.stop = field["stop"].count(1 << 20);
  } else if (type == "Replace") {
    Pattern pattern = pattern_of(field["pattern"]);
    step.kind = pattern.regex ? Kind::replace_regex : Kind::replace_text;
    step.pattern = std::move(pattern.text);
    step.content = field["content"].text();
  } else if (type == "Metaspace") {
    step.kind = Kind::metaspace;
    step.pattern = one_character(field["replacement"]);
    step.drop_first = prepend_of(field) != PreTokenizerStep::Prepend::never;
  } else if (type == "BPEDecoder") {
    step.kind = Kind::word_suffix;
    step.pattern = field["suffix"].text();
    if (step.pattern.empty()) field["suffix"].fail("is empty");
  } else {
    refuse(field, "decoder", type, "ByteLevel, ByteFallback, Fuse, Strip, Replace, Metaspace, BPEDecoder, Sequence");
  }
  spec.decoder.push_back(std::move(step));
}

void wrap(TokenizerSpec& spec, const std::vector<TokenId>& before, const std::vector<TokenId>& after) {
  spec.prefix.insert(spec.prefix.begin(), before.begin(), before.end());
  spec.suffix.insert(spec.suffix.end(), after.begin(), after.end());
}

TokenId id_of(const JsonField& field) { return static_cast<TokenId>(field.count(text::max_pieces - 1)); }

// What stands before and after $A in the template for one sequence.
void add_template(const JsonField& field, TokenizerSpec& spec) {
  std::vector<TokenId> sides[2];
  int side = 0;
  for (const JsonField& item : field["single"].elements()) {
    const JsonField token = item["SpecialToken"];
    if (token.is_there()) {
      const std::string name = token["id"].text();
      for (const JsonField& id : field["special_tokens"][name]["ids"].elements()) sides[side].push_back(id_of(id));
      continue;
    }
    if (item["Sequence"]["id"].text() != "A") item.fail("another sequence than A in the template for one");
    if (side++ == 1) item.fail("the sequence A twice");
  }
  if (side == 0) field["single"].fail("the sequence A is missing");
  wrap(spec, sides[0], sides[1]);
}

// [["</s>", 2], ...]: the id is the second of the pair.
TokenId second_of_pair(const JsonField& field) {
  const std::vector<JsonField> pair = field.elements();
  if (pair.size() != 2) field.fail("wanted a token and its id");
  return id_of(pair[1]);
}

}  // namespace

void read_normalizer(const JsonField& field, TokenizerSpec& spec) {
  each_step(field, "normalizers",
            [&](const JsonField& step, const std::string& type) { add_normalizer(step, type, spec); });
}

void read_pre_tokenizer(const JsonField& field, TokenizerSpec& spec) {
  each_step(field, "pretokenizers",
            [&](const JsonField& step, const std::string& type) { add_pre_tokenizer(step, type, spec); });
  // Words are bytes in the end: spelling them is needed only where something still looks at the spelled form.
  if (!spec.pre_tokenizer.empty() && spec.pre_tokenizer.back().kind == PreTokenizerStep::Kind::spell_bytes)
    spec.pre_tokenizer.pop_back();
}

void read_decoder(const JsonField& field, TokenizerSpec& spec) {
  each_step(field, "decoders", [&](const JsonField& step, const std::string& type) { add_decoder(step, type, spec); });
}

void read_post_processor(const JsonField& field, TokenizerSpec& spec) {
  each_step(field, "processors", [&](const JsonField& step, const std::string& type) {
    if (type == "ByteLevel") return;  // about offsets only
    if (type == "TemplateProcessing") return add_template(step, spec);
    if (type != "BertProcessing" && type != "RobertaProcessing")
      refuse(step, "post-processor", type,
             "TemplateProcessing, ByteLevel, BertProcessing, RobertaProcessing, Sequence");
    wrap(spec, {second_of_pair(step["cls"])}, {second_of_pair(step["sep"])});
  });
}

}  // namespace ridge::io
