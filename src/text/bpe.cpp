#include "text/bpe.h"

#include <fmt/core.h>

#include <bit>
#include <cmath>

#include "base/error.h"
#include "text/hash.h"
#include "text/utf8.h"

namespace ridge::text {

namespace {

constexpr std::string_view sentencepiece_space = "\xE2\x96\x81";  // U+2581

// A score as a number that orders the other way round: the best is the smallest.
std::uint32_t priority_of(float score) {
  const auto bits = std::bit_cast<std::uint32_t>(score + 0.0f);  // no negative zero
  const std::uint32_t ascending = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  return ~ascending;
}

}  // namespace

Bpe::Bpe(const TokenizerSpec& spec, const Vocabulary& vocabulary)
    : vocabulary_(vocabulary),
      merging_(spec.merging),
      ignore_merges_(spec.ignore_merges),
      byte_fallback_(spec.byte_fallback),
      fuse_unknown_(spec.fuse_unknown),
      unknown_piece_(spec.unknown_piece),
      continuing_prefix_(spec.continuing_prefix),
      word_suffix_(spec.word_suffix),
      source_(spec.source),
      merges_(spec, vocabulary),
      scores_(spec.scores) {
  const bool bytes = spec.spelling == Spelling::bytes;
  const bool affixes = !continuing_prefix_.empty() || !word_suffix_.empty();
  if (bytes && affixes)
    fail_input("{}: a byte-level model with a continuing-subword prefix or an end-of-word suffix", source_);
  for (int b = 0; b < 256; ++b) {
    const char byte = static_cast<char>(b);
    byte_symbols_[b] = bytes || b < 128 ? vocabulary.find({&byte, 1}) : no_token;
    byte_pieces_[b] = no_token;
    if (bytes && byte_fallback_ && byte_symbols_[b] == no_token)
      fail_input("{}: a byte-level model with byte fallback, but no piece for byte {}", source_, b);
  }
  for (TokenId id = 0; id < spec.pieces.size() && byte_fallback_ && !bytes; ++id) {
    const std::string_view p = spec.pieces[id];
    if (p.size() != 6 || !p.starts_with("<0x") || p[5] != '>') continue;
    for (int b = 0; b < 256; ++b)
      if (fmt::format("<0x{:02X}>", b) == p) byte_pieces_[b] = id;
  }
  if (!unknown_piece_.empty())
    for (TokenId id = 0; id < spec.pieces.size(); ++id)
      if (spec.pieces[id] == unknown_piece_) unknown_ = id;
  if (merging_ == Merging::scores) {
    if (scores_.size() != spec.pieces.size())
      fail_input("{}: {} pieces but {} scores", source_, spec.pieces.size(), scores_.size());
    for (std::size_t id = 0; id < scores_.size(); ++id)
      if (!std::isfinite(scores_[id])) fail_input("{}: the score of piece {} is not a finite number", source_, id);
    for (TokenId id = 0; id < spec.types.size(); ++id) {
      if (spec.types[id] != PieceType::unused) continue;
      unused_.resize(spec.pieces.size());
      unused_[id] = true;
    }
  }
  if (!bytes && !affixes && !ignore_merges_ && starts_words(sentencepiece_space)) mark_ = sentencepiece_space;
}

bool Bpe::starts_words(std::string_view mark) const {
  // Where an unknown character is dropped, its neighbours become neighbours, and a mark may merge across it.
  const bool drops = std::count(byte_pieces_.begin(), byte_pieces_.end(), no_token) != 0 && unknown_ == no_token;
  if (drops && merging_ == Merging::ranks) return false;
  if (vocabulary_.find(mark) == no_token) return false;
  const auto keeps_apart = [&](TokenId id) {
    std::string_view text = vocabulary_.text(id);
    while (text.starts_with(mark)) text.remove_prefix(mark.size());
    return text.find(mark) == std::string_view::npos;
  };
  if (merging_ == Merging::ranks)
    return std::all_of(merges_.all_merged().begin(), merges_.all_merged().end(), keeps_apart);
  for (TokenId id = 0; id < vocabulary_.size(); ++id)
    if (!keeps_apart(id) && vocabulary_.find(vocabulary_.text(id)) == id) return false;
  return true;
}

void Bpe::encode(std::string_view word, BpeScratch& scratch, std::vector<TokenId>& out) const {
  while (!mark_.empty() && !word.empty()) {
    std::size_t at = 0;
    while (word.substr(at).starts_with(mark_)) at += mark_.size();
    at = word.find(mark_, at);
    if (at == std::string_view::npos) break;
    encode_word(word.substr(0, at), scratch, out);
    word.remove_prefix(at);
  }
  if (!word.empty()) encode_word(word, scratch, out);
}

void Bpe::encode_word(std::string_view word, BpeScratch& scratch, std::vector<TokenId>& out) const {
  if (ignore_merges_) {
    const TokenId whole = vocabulary_.find(word);
    if (whole != no_token) {
      out.push_back(whole);
      return;
    }
  }
  const std::uint64_t hash = word.size() <= WordCache::max_word_bytes ? hash_of(word) : 0;
  const std::span<const TokenId> known = scratch.cache.get(word, hash);
  if (!known.empty()) {
    out.insert(out.end(), known.begin(), known.end());
    return;
  }
  const std::size_t before = out.size();
  if (merging_ == Merging::ranks) encode_ranked(word, scratch, out);
  else encode_scored(word, scratch, out);
  scratch.cache.put(word, hash, std::span(out).subspan(before));
}

namespace {

class RankedPairs {
 public:
  RankedPairs(const MergeTable& merges, std::vector<TokenId>& ids) : merges_(merges), ids_(ids) {}
  std::uint32_t priority(std::uint32_t left, std::uint32_t right, std::uint32_t) const {
    return merges_.rank(ids_[left], ids_[right]);
  }
  void merge(std::uint32_t left, std::uint32_t rank) { ids_[left] = merges_.merged(rank); }

 private:
  const MergeTable& merges_;
  std::vector<TokenId>& ids_;
};

}  // namespace

void Bpe::encode_ranked(std::string_view word, BpeScratch& scratch, std::vector<TokenId>& out) const {
  std::vector<TokenId>& ids = scratch.ids;
  symbols_of(word, scratch);
  if (ids.size() <= short_word) {
    ids.resize(merge_short(merges_, ids.data(), ids.size()));
    out.insert(out.end(), ids.begin(), ids.end());
    return;
  }
  RankedPairs pairs(merges_, ids);
  const auto count = static_cast<std::uint32_t>(ids.size());
  merge_symbols(pairs, count, scratch.merge);
  for (std::uint32_t i = 0; i < count; i = scratch.merge.next[i]) out.push_back(ids[i]);
}

// The first symbols of a word, into scratch.ids. What has no piece becomes byte pieces, or the unknown token, or
// nothing. An unknown token that is pending stays so over byte pieces, as in the reference.
void Bpe::symbols_of(std::string_view word, BpeScratch& scratch) const {
  std::vector<TokenId>& ids = scratch.ids;
  ids.clear();
  const bool bytes = vocabulary_.spelling() == Spelling::bytes;
  bool pending_unknown = false;
  for (std::size_t at = 0; at < word.size();) {
    const std::size_t size = bytes ? 1 : std::min(character_bytes(word[at]), word.size() - at);
    const std::string_view character = word.substr(at, size);
    const TokenId id = bytes ? byte_symbols_[static_cast<unsigned char>(word[at])]
                             : symbol_of(character, at == 0, at + size == word.size(), scratch);
    at += size;
    if (id != no_token) {
      if (pending_unknown) ids.push_back(unknown_);
      pending_unknown = false;
      ids.push_back(id);
    } else if (bytes || !byte_fallback_ || !append_byte_pieces(scratch.symbol, ids)) {
      if (unknown_piece_.empty()) continue;
      if (unknown_ == no_token)
        fail_input("{}: '{}' is in no piece, and the unknown token '{}' is none", source_, character, unknown_piece_);
      if (pending_unknown && !fuse_unknown_) ids.push_back(unknown_);
      pending_unknown = true;
    }
  }
  if (pending_unknown) ids.push_back(unknown_);
}

TokenId Bpe::symbol_of(std::string_view character, bool first, bool last, BpeScratch& scratch) const {
  const auto lead = static_cast<unsigned char>(character[0]);
  if (lead < 0x80 && continuing_prefix_.empty() && word_suffix_.empty() && byte_symbols_[lead] != no_token)
    return byte_symbols_[lead];
  scratch.symbol.clear();
  if (!first) scratch.symbol += continuing_prefix_;
  scratch.symbol += character;
  if (last) scratch.symbol += word_suffix_;
  return vocabulary_.find(scratch.symbol);
}

bool Bpe::append_byte_pieces(std::string_view bytes, std::vector<TokenId>& out) const {
  for (char b : bytes)
    if (byte_pieces_[static_cast<unsigned char>(b)] == no_token) return false;
  for (char b : bytes) out.push_back(byte_pieces_[static_cast<unsigned char>(b)]);
  return true;
}

namespace {

class ScoredPairs {
 public:
  ScoredPairs(std::string_view word, const Vocabulary& vocabulary, const std::vector<float>& scores,
              const std::vector<bool>& unused, BpeScratch& scratch)
      : word_(word), vocabulary_(vocabulary), scores_(scores), unused_(unused), scratch_(scratch) {}

  std::uint32_t priority(std::uint32_t left, std::uint32_t right, std::uint32_t end) {
    const std::vector<std::uint32_t>& starts = scratch_.starts;
    const std::string_view text = word_.substr(starts[left], starts[end] - starts[left]);
    const TokenId id = vocabulary_.find(text);
    if (id == no_token || id >= scores_.size()) return no_merge;
    if (!unused_.empty() && unused_[id]) scratch_.left_sizes[text] = starts[right] - starts[left];
    return priority_of(scores_[id]);
  }
  void merge(std::uint32_t, std::uint32_t) {}

 private:
  std::string_view word_;
  const Vocabulary& vocabulary_;
  const std::vector<float>& scores_;
  const std::vector<bool>& unused_;
  BpeScratch& scratch_;
};

}  // namespace

void Bpe::encode_scored(std::string_view word, BpeScratch& scratch, std::vector<TokenId>& out) const {
  std::vector<std::uint32_t>& starts = scratch.starts;
  starts.clear();
  scratch.left_sizes.clear();
  for (std::size_t at = 0; at < word.size(); at += character_bytes(word[at]))
    starts.push_back(static_cast<std::uint32_t>(at));
  const auto count = static_cast<std::uint32_t>(starts.size());
  starts.push_back(static_cast<std::uint32_t>(word.size()));
  ScoredPairs pairs(word, vocabulary_, scores_, unused_, scratch);
  merge_symbols(pairs, count, scratch.merge);
  bool after_unknown = false;
  for (std::uint32_t i = 0; i < count; i = scratch.merge.next[i])
    append_scored_piece(word.substr(starts[i], starts[scratch.merge.next[i]] - starts[i]), scratch, after_unknown, out);
}

// A piece that the vocabulary calls unused is taken apart again into what it was merged from (bpe_model.cc, resegment).
void Bpe::append_scored_piece(std::string_view whole, BpeScratch& scratch, bool& after_unknown,
                              std::vector<TokenId>& out) const {
  std::vector<std::string_view>& pending = scratch.pending;
  pending.assign(1, whole);
  while (!pending.empty()) {
    const std::string_view piece = pending.back();
    pending.pop_back();
    const TokenId id = vocabulary_.find(piece);
    const auto split =
        id != no_token && !unused_.empty() && unused_[id] ? scratch.left_sizes.find(piece) : scratch.left_sizes.end();
    if (split != scratch.left_sizes.end()) {
      pending.push_back(piece.substr(split->second));
      pending.push_back(piece.substr(0, split->second));
    } else if (id != no_token) {
      out.push_back(id);
      after_unknown = false;
    } else if (!byte_fallback_ || !append_byte_pieces(piece, out)) {
      append_unknown(after_unknown, piece, out);
      after_unknown = true;
    } else {
      after_unknown = false;
    }
  }
}

void Bpe::append_unknown(bool after_unknown, std::string_view character, std::vector<TokenId>& out) const {
  if (unknown_piece_.empty() || (after_unknown && fuse_unknown_)) return;
  if (unknown_ == no_token)
    fail_input("{}: '{}' is in no piece, and the unknown token '{}' is none", source_, character, unknown_piece_);
  out.push_back(unknown_);
}

}  // namespace ridge::text
