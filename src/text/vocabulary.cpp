#include "text/vocabulary.h"

#include <bit>

#include "base/error.h"
#include "text/byte_alphabet.h"
#include "text/hash.h"

namespace ridge::text {

namespace {

constexpr std::size_t max_probes = 4096;  // a good hash needs a dozen; only a file made to collide needs more

bool can_come_from_text(const TokenizerSpec& spec, TokenId id) {
  if (spec.types.empty()) return true;
  const PieceType type = spec.types[id];
  if (type == PieceType::byte) return spec.merging == Merging::ranks;
  return type != PieceType::control && type != PieceType::unknown;
}

}  // namespace

Vocabulary::Vocabulary(const TokenizerSpec& spec) : spelling_(spec.spelling) {
  std::size_t count = spec.pieces.size();
  for (const AddedToken& t : spec.added) count = std::max(count, std::size_t(t.id) + 1);
  if (count > max_pieces)
    fail_input("{}: a vocabulary of {} pieces; at most {} are accepted", spec.source, count, max_pieces);
  if (!spec.types.empty() && spec.types.size() != spec.pieces.size())
    fail_input("{}: {} pieces but {} types", spec.source, spec.pieces.size(), spec.types.size());

  std::vector<const AddedToken*> added(count);
  for (const AddedToken& t : spec.added) added[t.id] = &t;
  std::size_t bytes = 0;
  for (std::size_t id = 0; id < spec.pieces.size(); ++id) {
    if (spec.pieces[id].size() > max_piece_bytes)
      fail_input("{}: piece {} has {} bytes; at most {} are accepted", spec.source, id, spec.pieces[id].size(),
                 max_piece_bytes);
    bytes += spec.pieces[id].size();
  }
  arena_.reserve(bytes);
  starts_.reserve(count + 1);
  flags_.assign(count, 0);
  table_.assign(std::bit_ceil(spec.pieces.size() + spec.pieces.size() / 4 + 8), 0);
  for (TokenId id = 0; id < count; ++id) {
    starts_.push_back(static_cast<std::uint32_t>(arena_.size()));
    const bool in_model = id < spec.pieces.size() && spec.pieces[id].data();
    if (in_model) add_text(id, spec.pieces[id]);
    if (in_model && can_come_from_text(spec, id)) insert(id, spec);
    if (!added[id]) continue;
    if (added[id]->special) flags_[id] |= special;
    if (!in_model) add_text(id, added[id]->content);
    else if (added[id]->content != spec.pieces[id])
      fail_input("{}: added token '{}' has the id {} of piece '{}'", spec.source, added[id]->content, id,
                 spec.pieces[id]);
  }
  starts_.push_back(static_cast<std::uint32_t>(arena_.size()));
}

void Vocabulary::add_text(TokenId id, std::string_view spelled) {
  flags_[id] |= present;
  if (spelling_ == Spelling::bytes && append_bytes_of(spelled, arena_)) return;
  if (spelling_ == Spelling::bytes) flags_[id] |= literal;
  arena_ += spelled;
}

void Vocabulary::insert(TokenId id, const TokenizerSpec& spec) {
  const std::string_view mine = std::string_view(arena_).substr(starts_[id]);
  const std::uint64_t hash = hash_of(mine);
  const std::size_t mask = table_.size() - 1;
  for (std::size_t i = hash & mask, probes = 0;; i = (i + 1) & mask, ++probes) {
    if (table_[i] == 0) {
      table_[i] = (hash & ~std::uint64_t(0xFFFFFFFF)) | (id + 1);
      return;
    }
    if (probes == max_probes) fail_input("{}: a vocabulary made to collide in a hash table", spec.source);
    if (table_[i] >> 32 != hash >> 32) continue;
    const TokenId other = static_cast<TokenId>(table_[i]) - 1;
    if ((flags_[other] & literal) == (flags_[id] & literal) && text(other) == mine)
      fail_input("{}: pieces {} and {} are both '{}'", spec.source, other, id, spec.pieces[id]);
  }
}

TokenId Vocabulary::find(std::string_view wanted, std::uint64_t hash, std::uint8_t wanted_literal) const {
  const std::size_t mask = table_.size() - 1;
  for (std::size_t i = hash & mask; table_[i] != 0; i = (i + 1) & mask) {
    if (table_[i] >> 32 != hash >> 32) continue;
    const TokenId id = static_cast<TokenId>(table_[i]) - 1;
    if ((flags_[id] & literal) == wanted_literal && text(id) == wanted) return id;
  }
  return no_token;
}

TokenId Vocabulary::find_spelled(std::string_view spelling) const {
  if (spelling_ == Spelling::text) return find(spelling);
  std::string bytes;
  return append_bytes_of(spelling, bytes) ? find(bytes) : find(spelling, hash_of(spelling), literal);
}

std::string Vocabulary::spelled(TokenId id) const {
  if (spelling_ == Spelling::text || is_literal(id)) return std::string(text(id));
  std::string out;
  append_spelling_of(text(id), out);
  return out;
}

std::size_t Vocabulary::memory_bytes() const {
  return arena_.capacity() + starts_.capacity() * sizeof starts_[0] + flags_.capacity() +
         table_.capacity() * sizeof table_[0];
}

}  // namespace ridge::text
