#include "io/sentencepiece_scores.h"

#include <cstdint>
#include <unordered_map>

#include "base/error.h"
#include "io/quote.h"

namespace ridge::io {

namespace {

using text::Merge;
using text::TokenId;
using text::TokenizerSpec;

constexpr float never = -1e9f;  // of a piece that no merge makes

using Ids = std::unordered_map<std::string_view, TokenId>;

Ids ids_of(const TokenizerSpec& spec) {
  Ids ids;
  for (TokenId id = 0; id < spec.pieces.size(); ++id)
    if (spec.pieces[id].data()) ids.emplace(spec.pieces[id], id);
  return ids;
}

[[noreturn]] void refuse(const TokenizerSpec& spec, const Merge& m, std::string_view why) {
  fail_input(
      "{}: the merges are not those of a SentencePiece model ({} and {}: {}), so no scores give them, and GGUF holds "
      "scores; --no-tokenizer leaves the tokenizer out",
      spec.source, quote(m.left()), quote(m.right()), why);
}

// How many ways there are to make a piece of two others.
std::uint32_t ways(std::string_view piece, const Ids& ids) {
  std::uint32_t n = 0;
  for (std::size_t cut = 1; cut < piece.size(); ++cut) {
    if ((static_cast<unsigned char>(piece[cut]) & 0xC0) == 0x80) continue;  // inside a character
    n += ids.contains(piece.substr(0, cut)) && ids.contains(piece.substr(cut)) ? 1 : 0;
  }
  return n;
}

}  // namespace

std::vector<float> scores_of_merges(const TokenizerSpec& spec) {
  const Ids ids = ids_of(spec);
  std::vector<float> scores(spec.pieces.size(), never);
  std::vector<std::uint32_t> made(spec.pieces.size());
  std::string piece;
  TokenId last = 0;
  float score = 0;
  for (std::size_t rank = 0; rank < spec.merges.size(); ++rank) {
    const Merge& m = spec.merges[rank];
    piece.assign(m.left()).append(m.right());
    const auto found = ids.find(piece);
    if (found == ids.end()) refuse(spec, m, "together they are no piece");
    const TokenId id = found->second;
    if (rank == 0 || id != last) {
      if (made[id] > 0) refuse(spec, m, "the piece is made earlier, too, with others between");
      scores[id] = score--;
    }
    last = id;
    ++made[id];
    const bool group_ends = rank + 1 == spec.merges.size() || spec.merges[rank + 1].joined.size() != m.joined.size() ||
                            std::string(spec.merges[rank + 1].left()).append(spec.merges[rank + 1].right()) != piece;
    if (group_ends && made[id] != ways(spec.pieces[id], ids))
      refuse(spec, m, "there are other ways to make that piece");
  }
  return scores;
}

}  // namespace ridge::io
