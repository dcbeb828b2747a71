#include "io/tokenizer_gguf.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "base/error.h"
#include "io/gguf_pre.h"
#include "io/quote.h"
#include "io/sentencepiece_steps.h"

namespace ridge::io {

namespace {

using text::PieceType;
using text::TokenId;
using text::TokenizerSpec;

constexpr std::string_view prefix = "tokenizer.ggml.";

std::string key_of(std::string_view name) { return std::string(prefix) + std::string(name); }

// A count is checked before anything is allocated for it.
GgufStrings strings(const GgufMetadata& m, std::string_view name, std::size_t most) {
  const std::string key = key_of(name);
  const GgufStrings all = m.get_strings(key);
  if (all.size() > most)
    fail_input("{}: key '{}' has {} strings; at most {} are accepted", m.file(), key, all.size(), most);
  return all;
}

void check_count(const GgufMetadata& m, std::string_view name, std::size_t count, std::size_t pieces) {
  if (count != pieces)
    fail_input("{}: key '{}' has {} elements, but there are {} tokens", m.file(), key_of(name), count, pieces);
}

void read_pieces(const GgufMetadata& m, TokenizerSpec& spec) {
  const GgufStrings tokens = strings(m, "tokens", text::max_pieces);
  spec.pieces.assign(tokens.begin(), tokens.end());
  if (!m.has(key_of("token_type"))) return;
  const std::vector<std::int32_t> types = m.get_i32s(key_of("token_type"));
  check_count(m, "token_type", types.size(), spec.pieces.size());
  constexpr std::array names = {PieceType::normal,       PieceType::normal, PieceType::unknown, PieceType::control,
                                PieceType::user_defined, PieceType::unused, PieceType::byte};
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i] < 0 || static_cast<std::size_t>(types[i]) >= names.size())
      fail_input("{}: key '{}': token {} has type {}; accepted are 1 to 6", m.file(), key_of("token_type"), i,
                 types[i]);
    spec.types.push_back(names[static_cast<std::size_t>(types[i])]);
  }
}

// Control tokens and those that a user defined are looked for in the text before it is cut into words.
void read_added(TokenizerSpec& spec) {
  for (TokenId id = 0; id < spec.types.size(); ++id) {
    const PieceType type = spec.types[id];
    const bool special = type == PieceType::control || type == PieceType::unknown;
    if ((!special && type != PieceType::user_defined) || spec.pieces[id].empty()) continue;
    spec.added.push_back({.content = std::string(spec.pieces[id]), .id = id, .special = special});
  }
}

std::optional<TokenId> read_id(const GgufMetadata& m, std::string_view name, std::size_t pieces) {
  const std::string key = key_of(name);
  if (!m.has(key)) return std::nullopt;
  const std::int64_t id = m.get_i64(key);
  if (id == -1 || id == 0xFFFFFFFF) return std::nullopt;  // how some writers say that there is none
  if (id < 0 || static_cast<std::uint64_t>(id) >= pieces)
    fail_input("{}: key '{}' is {}, but there are {} tokens", m.file(), key, id, pieces);
  return static_cast<TokenId>(id);
}

void add_end(TokenizerSpec& spec, std::optional<TokenId> id) {
  if (id && std::find(spec.end_ids.begin(), spec.end_ids.end(), *id) == spec.end_ids.end()) spec.end_ids.push_back(*id);
}

// The file names one end token; chat models have others, which are known by their names.
void read_roles(const GgufMetadata& m, TokenizerSpec& spec) {
  const std::size_t n = spec.pieces.size();
  spec.bos = read_id(m, "bos_token_id", n);
  spec.eos = read_id(m, "eos_token_id", n);
  spec.unknown = read_id(m, "unknown_token_id", n);
  spec.padding = read_id(m, "padding_token_id", n);
  add_end(spec, spec.eos);
  add_end(spec, read_id(m, "eot_token_id", n));
  add_end(spec, read_id(m, "eom_token_id", n));
  for (const text::AddedToken& t : spec.added)
    for (std::string_view end :
         {"<|eot_id|>", "<|eom_id|>", "<|im_end|>", "<|end|>", "<end_of_turn>", "<|endoftext|>", "<|end_of_text|>"})
      if (t.special && t.content == end) add_end(spec, t.id);
}

void read_wrapping(const GgufMetadata& m, bool bos_by_default, TokenizerSpec& spec) {
  if (m.get_bool(key_of("add_bos_token"), bos_by_default)) {
    if (!spec.bos)
      fail_input("{}: a beginning-of-sequence token is to be added, but key '{}' is missing", m.file(),
                 key_of("bos_token_id"));
    spec.prefix.push_back(*spec.bos);
  }
  if (m.get_bool(key_of("add_eos_token"), false)) {
    if (!spec.eos)
      fail_input("{}: an end-of-sequence token is to be added, but key '{}' is missing", m.file(),
                 key_of("eos_token_id"));
    spec.suffix.push_back(*spec.eos);
  }
}

void read_merges(const GgufMetadata& m, TokenizerSpec& spec) {
  const GgufStrings merges = strings(m, "merges", text::max_merges);
  spec.merges.reserve(merges.size());
  std::size_t index = 0;
  for (std::string_view merge : merges) {
    const std::size_t space = merge.find(' ');
    if (space == std::string_view::npos || space == 0 || space + 1 == merge.size() ||
        merge.find(' ', space + 1) != std::string_view::npos)
      fail_input("{}: key '{}': merge {} is {}; accepted are two pieces with one space between", m.file(),
                 key_of("merges"), index, quote(merge));
    spec.merges.push_back({merge, static_cast<std::uint32_t>(space)});
    ++index;
  }
}

// Phi-3's control tokens take the white space after them; GGUF has no word for it (llama.cpp goes by the name, too).
void mend_phi3(const GgufMetadata& m, TokenizerSpec& spec) {
  if (m.get_string("general.architecture", "") != "phi3" || m.get_string(key_of("model")) != "llama") return;
  for (text::AddedToken& t : spec.added)
    t.rstrip = t.special && t.content != "<unk>" && t.content != "<s>" && t.content != "<|endoftext|>";
}

void read_byte_level(const GgufMetadata& m, TokenizerSpec& spec) {
  spec.spelling = text::Spelling::bytes;
  spec.merging = text::Merging::ranks;
  read_merges(m, spec);
  const bool bos = apply_gguf_pre(m.get_string(key_of("pre"), ""), spec);
  if (m.get_bool(key_of("add_space_prefix"), false))
    spec.pre_tokenizer.insert(spec.pre_tokenizer.begin(), {.kind = text::PreTokenizerStep::Kind::prefix_space});
  spec.decoder.push_back({.kind = text::DecoderStep::Kind::byte_level});
  read_roles(m, spec);
  read_wrapping(m, bos, spec);
}

void read_sentencepiece(const GgufMetadata& m, TokenizerSpec& spec) {
  spec.spelling = text::Spelling::text;
  spec.byte_fallback = std::find(spec.types.begin(), spec.types.end(), PieceType::byte) != spec.types.end();
  spec.fuse_unknown = true;
  if (m.has(key_of("scores"))) {
    spec.merging = text::Merging::scores;
    spec.scores = m.get_f32s(key_of("scores"));
    check_count(m, "scores", spec.scores.size(), spec.pieces.size());
  } else {
    read_merges(m, spec);
  }
  read_roles(m, spec);
  const TokenId unknown = spec.unknown.value_or(0);
  if (unknown < spec.pieces.size()) spec.unknown_piece = spec.pieces[unknown];
  if (!spec.bos && spec.pieces.size() > 1 && spec.pieces[1] == "<s>") spec.bos = 1;
  if (!spec.eos && spec.pieces.size() > 2 && spec.pieces[2] == "</s>") spec.eos = 2;
  add_end(spec, spec.eos);
  SentencePieceSpaces spaces;
  spaces.prefix = m.get_bool(key_of("add_space_prefix"), true);
  spaces.collapse = m.get_bool(key_of("remove_extra_whitespaces"), false);
  add_sentencepiece_steps(spaces, spec);
  read_wrapping(m, true, spec);
  mend_phi3(m, spec);
}

}  // namespace

bool has_tokenizer(const GgufMetadata& m) {
  const std::string_view model = m.get_string(key_of("model"), "none");
  return model != "none" && model != "no_vocab";
}

TokenizerSpec read_gguf_tokenizer(const GgufMetadata& m) {
  TokenizerSpec spec;
  spec.source = m.file();
  const std::string_view model = m.get_string(key_of("model"));
  if (model != "gpt2" && model != "llama")
    fail_input(
        "{}: key '{}': the tokenizer model {} is not supported; accepted are 'gpt2' (byte-level BPE) and 'llama' "
        "(SentencePiece BPE)",
        m.file(), key_of("model"), quote(model));
  read_pieces(m, spec);
  read_added(spec);
  if (model == "gpt2") read_byte_level(m, spec);
  else read_sentencepiece(m, spec);
  return spec;
}

}  // namespace ridge::io
