#include "text/merge_table.h"

#include <bit>

#include "base/error.h"
#include "text/byte_alphabet.h"
#include "text/hash.h"

namespace ridge::text {

namespace {

constexpr std::size_t max_probes = 4096;

struct Resolved {
  TokenId left, right, merged;
};

// Both halves of a merge as the vocabulary looks them up, next to each other, so that the whole is their join.
class MergeReader {
 public:
  MergeReader(const TokenizerSpec& spec, const Vocabulary& vocabulary) : spec_(spec), vocabulary_(vocabulary) {}

  Resolved read(const Merge& merge, TokenId guess) {
    whole_.clear();
    if (vocabulary_.spelling() == Spelling::text || !append_bytes_of(merge.left(), whole_)) return read_spelled(merge);
    const std::size_t middle = whole_.size();
    if (!append_bytes_of(merge.right(), whole_)) return read_spelled(merge);
    const std::string_view whole = whole_;
    // Most vocabularies list pieces in the order of the merges that make them: try the next id before the table.
    const TokenId merged = vocabulary_.is(guess, whole) ? guess : vocabulary_.find(whole);
    return {vocabulary_.find(whole.substr(0, middle)), vocabulary_.find(whole.substr(middle)), merged};
  }

 private:
  Resolved read_spelled(const Merge& merge) {
    const std::string_view right = merge.right();
    if (!right.starts_with(spec_.continuing_prefix)) return {no_token, no_token, no_token};
    whole_ = merge.left();
    whole_ += right.substr(spec_.continuing_prefix.size());
    return {vocabulary_.find_spelled(merge.left()), vocabulary_.find_spelled(right), vocabulary_.find_spelled(whole_)};
  }

  const TokenizerSpec& spec_;
  const Vocabulary& vocabulary_;
  std::string whole_;
};

}  // namespace

MergeTable::MergeTable(const TokenizerSpec& spec, const Vocabulary& vocabulary) {
  if (spec.merges.size() > max_merges)
    fail_input("{}: {} merges; at most {} are accepted", spec.source, spec.merges.size(), max_merges);
  table_.assign(std::bit_ceil(spec.merges.size() + spec.merges.size() / 4 + 8), empty);
  merged_.reserve(spec.merges.size());
  MergeReader reader(spec, vocabulary);
  TokenId guess = no_token;
  for (std::uint32_t rank = 0; rank < spec.merges.size(); ++rank) {
    const Merge& merge = spec.merges[rank];
    const Resolved r = reader.read(merge, guess);
    if (r.left == no_token || r.right == no_token || r.merged == no_token) {
      const char* part = r.left == no_token ? "its left half" : r.right == no_token ? "its right half" : "their join";
      fail_input("{}: merge {} ('{}' with '{}'): {} is not in the vocabulary", spec.source, rank, merge.left(),
                 merge.right(), part);
    }
    merged_.push_back(r.merged);
    guess = r.merged + 1;
    insert(r.left, r.right, rank, spec);
  }
}

void MergeTable::insert(TokenId left, TokenId right, std::uint32_t rank, const TokenizerSpec& spec) {
  const std::uint64_t key = std::uint64_t(left) << id_bits | right;
  const std::size_t mask = table_.size() - 1;
  std::size_t i = hash_of(key) & mask;
  for (std::size_t probes = 0; table_[i] != empty && table_[i] >> rank_bits != key; i = (i + 1) & mask)
    if (++probes == max_probes) fail_input("{}: merges made to collide in a hash table", spec.source);
  table_[i] = key << rank_bits | rank;
}

std::uint32_t MergeTable::rank(TokenId left, TokenId right) const {
  const std::uint64_t key = std::uint64_t(left) << id_bits | right;
  const std::size_t mask = table_.size() - 1;
  for (std::size_t i = hash_of(key) & mask; table_[i] != empty; i = (i + 1) & mask)
    if (table_[i] >> rank_bits == key) return table_[i] & ((1u << rank_bits) - 1);
  return no_merge;
}

}  // namespace ridge::text
