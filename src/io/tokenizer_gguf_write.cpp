#include "io/tokenizer_gguf_write.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "io/gguf_pre.h"
#include "io/quote.h"
#include "io/sentencepiece_scores.h"
#include "io/sentencepiece_steps.h"

namespace ridge::io {

namespace {

using text::AddedToken;
using text::PieceType;
using text::PreTokenizerStep;
using text::TokenId;
using text::TokenizerSpec;

constexpr float score_of_nothing = -10000;  // as llama.cpp's converter has it

std::string key_of(std::string_view name) { return "tokenizer.ggml." + std::string(name); }

struct Tokens {
  std::vector<std::string> texts;
  std::vector<std::int32_t> types;
};

std::int32_t number_of(PieceType type) {
  switch (type) {
    case PieceType::normal: return 1;
    case PieceType::unknown: return 2;
    case PieceType::control: return 3;
    case PieceType::user_defined: return 4;
    case PieceType::unused: return 5;
    case PieceType::byte: return 6;
  }
  return 1;
}

bool is_byte_piece(std::string_view piece) {  // <0x0A>
  return piece.size() == 6 && piece.starts_with("<0x") && piece.ends_with(">") &&
         piece.substr(3, 2).find_first_not_of("0123456789ABCDEF") == std::string_view::npos;
}

PieceType type_of(const TokenizerSpec& spec, TokenId id) {
  if (!spec.types.empty()) return spec.types[id];
  if (spec.byte_fallback && is_byte_piece(spec.pieces[id])) return PieceType::byte;
  const bool unknown = spec.spelling == text::Spelling::text && spec.pieces[id] == spec.unknown_piece;
  return unknown ? PieceType::unknown : PieceType::normal;
}

Tokens pieces_of(const TokenizerSpec& spec, std::size_t rows) {
  Tokens t;
  for (TokenId id = 0; id < rows; ++id) {
    const bool there = id < spec.pieces.size() && spec.pieces[id].data();
    t.texts.push_back(there ? std::string(spec.pieces[id]) : fmt::format("[PAD{}]", id));
    t.types.push_back(number_of(there ? type_of(spec, id) : PieceType::unused));
  }
  for (std::size_t id = rows; id < spec.pieces.size(); ++id)
    if (spec.pieces[id].data())
      fail_input("{}: token {} is beyond the embedding's {} rows; GGUF cannot hold it", spec.source, id, rows);
  return t;
}

void add_added(const TokenizerSpec& spec, Tokens& t, std::vector<std::string>& notes) {
  std::size_t beyond = 0, flagged = 0, verbatim = 0;
  for (const AddedToken& a : spec.added) {
    if (a.id >= t.texts.size()) {
      ++beyond;
      continue;
    }
    flagged += a.lstrip || a.rstrip || a.single_word ? 1 : 0;
    verbatim += a.verbatim ? 1 : 0;
    const bool unknown = t.types[a.id] == number_of(PieceType::unknown);
    t.texts[a.id] = a.content;
    if (!unknown) t.types[a.id] = number_of(a.special ? PieceType::control : PieceType::user_defined);
  }
  if (beyond > 0)
    notes.push_back(fmt::format("{} added tokens are left out: the embedding has no rows for them", beyond));
  if (flagged > 0)
    notes.push_back(fmt::format(
        "{} added tokens take white space beside them, or stand alone only (lstrip, rstrip, single_word); GGUF has no "
        "word for that",
        flagged));
  if (verbatim > 0)
    notes.push_back(fmt::format(
        "{} user-defined pieces will be found in a text as it is; SentencePiece looks for them after it has "
        "rewritten the spaces",
        verbatim));
}

// The key for what stands around a text, and its token.
struct End {
  std::string_view add, id;
  std::optional<TokenId> token;
  const std::vector<TokenId>& around;
};

void put_end(const TokenizerSpec& spec, const End& end, GgufPairs& pairs) {
  std::optional<TokenId> token = end.token;
  if (!token && end.around.size() == 1) token = end.around[0];
  if (end.around.size() > 1 || (!end.around.empty() && end.around[0] != *token))
    fail_input(
        "{}: the post-processor puts other tokens around a text than its beginning and its end; GGUF has no "
        "word for that; --no-tokenizer leaves the tokenizer out",
        spec.source);
  if (token) pairs.put_u32(key_of(end.id), *token);
  pairs.put_bool(key_of(end.add), !end.around.empty());
}

void put_roles(const TokenizerSpec& spec, std::size_t rows, GgufPairs& pairs, std::vector<std::string>& notes) {
  put_end(spec, {"add_bos_token", "bos_token_id", spec.bos, spec.prefix}, pairs);
  put_end(spec, {"add_eos_token", "eos_token_id", spec.eos, spec.suffix}, pairs);
  if (spec.unknown && *spec.unknown < rows) pairs.put_u32(key_of("unknown_token_id"), *spec.unknown);
  if (spec.padding && *spec.padding < rows) pairs.put_u32(key_of("padding_token_id"), *spec.padding);
  constexpr std::string_view more[] = {"eot_token_id", "eom_token_id"};
  std::size_t used = 0;
  for (TokenId id : spec.end_ids) {
    if (id == spec.eos || id >= rows) continue;
    if (used < std::size(more)) pairs.put_u32(key_of(more[used++]), id);
    else notes.push_back(fmt::format("token {} also ends a generation, which GGUF has no key for", id));
  }
}

void put_merges(const TokenizerSpec& spec, GgufPairs& pairs) {
  std::vector<std::string> merges;
  for (const text::Merge& m : spec.merges) {
    if (m.joined.find(' ') != m.left_size || m.right().find(' ') != std::string_view::npos)
      fail_input("{}: the merge of {} and {} holds a space, which GGUF's merges cannot", spec.source, quote(m.left()),
                 quote(m.right()));
    merges.emplace_back(m.joined);
  }
  pairs.put_strings(key_of("merges"), merges);
}

std::string steps_in_words(const TokenizerSpec& spec) {
  std::string words;
  for (const PreTokenizerStep& s : spec.pre_tokenizer)
    if (!s.pattern.empty()) words += (words.empty() ? "" : ", ") + quote(s.pattern);
  return words.empty() ? "no pattern" : words;
}

void put_byte_level(const TokenizerSpec& spec, GgufPairs& pairs) {
  const auto name = gguf_pre_of(spec);
  if (!name)
    fail_input(
        "{}: the pre-tokenizer ({}; {} normalizers) is none of those that tokenizer.ggml.pre names; --no-tokenizer "
        "leaves the tokenizer out",
        spec.source, steps_in_words(spec), spec.normalizer.size());
  pairs.put_string(key_of("model"), "gpt2");
  pairs.put_string(key_of("pre"), *name);
  const auto& steps = spec.pre_tokenizer;
  if (!steps.empty() && steps.front().kind == PreTokenizerStep::Kind::prefix_space)
    pairs.put_bool(key_of("add_space_prefix"), true);
  put_merges(spec, pairs);
}

std::vector<float> scores_of(const TokenizerSpec& spec, std::size_t rows) {
  std::vector<float> scores = spec.merging == text::Merging::scores ? spec.scores : scores_of_merges(spec);
  scores.resize(rows, score_of_nothing);
  return scores;
}

void put_sentencepiece(const TokenizerSpec& spec, std::size_t rows, GgufPairs& pairs, std::vector<std::string>& notes) {
  const SentencePieceSpaces spaces = spaces_of(spec);
  pairs.put_string(key_of("model"), "llama");
  pairs.put_string(key_of("pre"), "default");
  pairs.put_f32s(key_of("scores"), scores_of(spec, rows));
  pairs.put_bool(key_of("add_space_prefix"), spaces.prefix);
  if (spaces.collapse) pairs.put_bool(key_of("remove_extra_whitespaces"), true);
  for (const PreTokenizerStep& s : spec.pre_tokenizer)
    if (s.prepend == PreTokenizerStep::Prepend::first)
      notes.emplace_back(
          "text after a control token will begin with a space, which the original puts before the first "
          "text alone; GGUF has no word for that");
}

}  // namespace

void put_gguf_tokenizer(const TokenizerSpec& spec, std::size_t rows, GgufPairs& pairs,
                        std::vector<std::string>& notes) {
  if (!spec.continuing_prefix.empty() || !spec.word_suffix.empty())
    fail_input(
        "{}: symbols marked by their place in a word (continuing_subword_prefix, end_of_word_suffix) cannot be "
        "written: GGUF has no word for it; --no-tokenizer leaves the tokenizer out",
        spec.source);
  Tokens tokens = pieces_of(spec, rows);
  add_added(spec, tokens, notes);
  if (spec.spelling == text::Spelling::bytes) put_byte_level(spec, pairs);
  else put_sentencepiece(spec, rows, pairs, notes);
  pairs.put_strings(key_of("tokens"), tokens.texts);
  pairs.put_i32s(key_of("token_type"), tokens.types);
  put_roles(spec, rows, pairs, notes);
}

}  // namespace ridge::io
