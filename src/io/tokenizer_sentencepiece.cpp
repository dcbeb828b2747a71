#include "io/tokenizer_sentencepiece.h"

#include <string>

#include "base/error.h"
#include "io/protobuf_reader.h"
#include "io/quote.h"
#include "io/sentencepiece_steps.h"
#include "text/utf8.h"

namespace ridge::io {

namespace {

using text::PieceType;
using text::TokenId;
using text::TokenizerSpec;

// What is read of TrainerSpec and NormalizerSpec, with the defaults of sentencepiece_model.proto.
struct Settings {
  std::uint64_t model_type = 1;
  bool byte_fallback = false, space_is_suffix = false;
  std::int64_t unknown = 0, bos = 1, eos = 2, padding = -1;
  std::string_view rule_table;
  bool dummy_prefix = true, collapse = true, escape = true;
};

void read_piece(ProtobufReader piece, TokenizerSpec& spec) {
  std::string_view text;
  float score = 0;
  std::uint64_t type = 1;
  while (piece.next()) {
    if (piece.field() == 1) text = piece.text();
    else if (piece.field() == 2) score = piece.real();
    else if (piece.field() == 3) type = piece.varint();
  }
  const std::size_t id = spec.pieces.size();
  if (id == text::max_pieces) fail_input("{}: more than {} pieces", spec.source, text::max_pieces);
  if (text.empty()) fail_input("{}: piece {} is empty", spec.source, id);
  if (!text::is_valid_utf8(text)) fail_input("{}: piece {} is not UTF-8", spec.source, id);
  constexpr PieceType types[] = {PieceType::normal,       PieceType::normal, PieceType::unknown, PieceType::control,
                                 PieceType::user_defined, PieceType::unused, PieceType::byte};
  if (type < 1 || type > 6)
    fail_input("{}: piece {} ({}) has type {}; accepted are 1 to 6", spec.source, id, quote(text), type);
  spec.pieces.push_back(spec.storage.add(text));
  spec.scores.push_back(score);
  spec.types.push_back(types[type]);
}

// A 32-bit number, negative ones written with 64 bits.
std::int64_t small_number(const ProtobufReader& field) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(field.varint()));
}

void read_trainer(ProtobufReader trainer, Settings& s) {
  while (trainer.next()) {
    switch (trainer.field()) {
      case 3: s.model_type = trainer.varint(); break;
      case 24: s.space_is_suffix = trainer.truth(); break;
      case 35: s.byte_fallback = trainer.truth(); break;
      case 40: s.unknown = small_number(trainer); break;
      case 41: s.bos = small_number(trainer); break;
      case 42: s.eos = small_number(trainer); break;
      case 43: s.padding = small_number(trainer); break;
      default: break;
    }
  }
}

void read_normalizer_spec(ProtobufReader normalizer, Settings& s) {
  while (normalizer.next()) {
    switch (normalizer.field()) {
      case 2: s.rule_table = normalizer.text(); break;
      case 3: s.dummy_prefix = normalizer.truth(); break;
      case 4: s.collapse = normalizer.truth(); break;
      case 5: s.escape = normalizer.truth(); break;
      default: break;
    }
  }
}

void check_settings(const Settings& s, const TokenizerSpec& spec) {
  constexpr std::string_view names[] = {"", "Unigram", "BPE", "WORD", "CHAR"};
  if (s.model_type != 2)
    fail_input("{}: the tokenizer model {} is not supported; accepted is BPE", spec.source,
               s.model_type < std::size(names) ? names[s.model_type] : "of an unknown type");
  if (s.space_is_suffix)
    fail_input("{}: white space as a suffix (treat_whitespace_as_suffix) is not supported", spec.source);
}

std::optional<TokenId> role(std::int64_t id, std::string_view name, const TokenizerSpec& spec) {
  if (id < 0) return std::nullopt;
  if (static_cast<std::uint64_t>(id) >= spec.pieces.size())
    fail_input("{}: the {} token is {}, but there are {} pieces", spec.source, name, id, spec.pieces.size());
  return static_cast<TokenId>(id);
}

void apply(const Settings& s, TokenizerSpec& spec) {
  spec.merging = text::Merging::scores;
  spec.byte_fallback = s.byte_fallback;
  spec.fuse_unknown = true;
  spec.bos = role(s.bos, "bos", spec);
  spec.eos = role(s.eos, "eos", spec);
  spec.padding = role(s.padding, "padding", spec);
  spec.unknown = role(s.unknown, "unknown", spec);
  if (spec.unknown) spec.unknown_piece = spec.pieces[*spec.unknown];
  if (spec.bos) spec.prefix.push_back(*spec.bos);
  if (spec.eos) spec.end_ids.push_back(*spec.eos);
  for (TokenId id = 0; id < spec.types.size(); ++id) {
    const bool special = spec.types[id] == PieceType::control || spec.types[id] == PieceType::unknown;
    if (special || spec.types[id] == PieceType::user_defined)
      spec.added.push_back({.content = std::string(spec.pieces[id]),
                            .id = id,
                            .normalized = !special,
                            .verbatim = !special,
                            .special = special});
  }
  if (!s.rule_table.empty())
    spec.normalizer.push_back({.kind = text::NormalizerStep::Kind::charsmap, .content = std::string(s.rule_table)});
  add_sentencepiece_steps({s.dummy_prefix, s.collapse, s.escape}, spec);
}

}  // namespace

bool looks_like_sentencepiece(std::span<const std::byte> bytes) {
  return bytes.size() > 4 && bytes[0] == std::byte(0x0A) && bytes[2] == std::byte(0x0A);
}

TokenizerSpec read_sentencepiece(std::span<const std::byte> bytes, std::string_view file) {
  TokenizerSpec spec;
  spec.source = file;
  Settings settings;
  ProtobufReader model(bytes, file);
  while (model.next()) {
    if (model.field() == 1) read_piece(model.message(), spec);
    else if (model.field() == 2) read_trainer(model.message(), settings);
    else if (model.field() == 3) read_normalizer_spec(model.message(), settings);
  }
  if (spec.pieces.empty()) fail_input("{}: is not a SentencePiece model: it has no pieces", spec.source);
  check_settings(settings, spec);
  apply(settings, spec);
  return spec;
}

}  // namespace ridge::io
