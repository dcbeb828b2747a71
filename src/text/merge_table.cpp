#include "text/merge_table.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "text/byte_alphabet.h"
#include "text/hash.h"

namespace ridge::text {

namespace {

constexpr std::size_t max_probes = 4096;

// Finds the pieces of a block of merges. A vocabulary does not fit in the nearest cache, so all places that a block
// will look at are fetched before the first is.
class MergeReader {
 public:
  static constexpr std::size_t block = 32;

  MergeReader(const TokenizerSpec& spec, const Vocabulary& vocabulary) : spec_(spec), vocabulary_(vocabulary) {}

  struct Found {
    TokenId left, right, merged;
  };
  std::span<const Found> read(std::span<const Merge> merges) {
    text_.clear();
    for (std::size_t i = 0; i < merges.size(); ++i) lay_out(merges[i], places_[i]);
    for (std::size_t i = 0; i < merges.size(); ++i) fetch(places_[i]);
    for (std::size_t i = 0; i < merges.size(); ++i)
      found_[i] = places_[i].plain ? find(places_[i]) : find_spelled(merges[i]);
    return {found_, merges.size()};
  }

 private:
  // Both halves next to each other in `text_` as the vocabulary looks them up, so that the whole is their join.
  struct Place {
    std::size_t begin, middle, end;
    std::uint64_t left_hash, right_hash;
    bool plain;  // false: needs the slow way
  };

  void lay_out(const Merge& merge, Place& place) {
    place.begin = text_.size();
    if (vocabulary_.spelling() == Spelling::text) {
      text_ += merge.left();
      place.middle = text_.size();
      text_ += merge.right();
      place.plain = spec_.continuing_prefix.empty();
    } else {
      place.plain = append_bytes_of(merge.left(), text_);
      place.middle = text_.size();
      place.plain = place.plain && append_bytes_of(merge.right(), text_);
    }
    place.end = text_.size();
  }
  std::string_view left(const Place& p) const { return std::string_view(text_).substr(p.begin, p.middle - p.begin); }
  std::string_view right(const Place& p) const { return std::string_view(text_).substr(p.middle, p.end - p.middle); }
  std::string_view whole(const Place& p) const { return std::string_view(text_).substr(p.begin, p.end - p.begin); }

  void fetch(Place& p) const {
    vocabulary_.fetch(p.left_hash = hash_of(left(p)));
    vocabulary_.fetch(p.right_hash = hash_of(right(p)));
  }
  Found find(const Place& p) {
    return {vocabulary_.find(left(p), p.left_hash), vocabulary_.find(right(p), p.right_hash), find_merged(whole(p))};
  }
  // Most vocabularies list pieces in the order of the merges that make them, some with several merges for a piece.
  TokenId find_merged(std::string_view text) {
    if (vocabulary_.is(last_ + 1, text)) return ++last_;
    if (!vocabulary_.is(last_, text)) last_ = vocabulary_.find(text);
    return last_;
  }
  Found find_spelled(const Merge& merge) {
    const std::string_view right = merge.right();
    if (!right.starts_with(spec_.continuing_prefix)) return {no_token, no_token, no_token};
    const std::string whole = std::string(merge.left()) + std::string(right.substr(spec_.continuing_prefix.size()));
    return {vocabulary_.find_spelled(merge.left()), vocabulary_.find_spelled(right), vocabulary_.find_spelled(whole)};
  }

  const TokenizerSpec& spec_;
  const Vocabulary& vocabulary_;
  std::string text_;
  Place places_[block];
  Found found_[block];
  TokenId last_ = no_token - 1;
};

void check(const Merge& merge, std::size_t rank, TokenId left, TokenId right, TokenId merged,
           const TokenizerSpec& spec) {
  if (left != no_token && right != no_token && merged != no_token) return;
  const char* part = left == no_token ? "its left half" : right == no_token ? "its right half" : "their join";
  fail_input("{}: merge {} ('{}' with '{}'): {} is not in the vocabulary", spec.source, rank, merge.left(),
             merge.right(), part);
}

}  // namespace

MergeTable::MergeTable(const TokenizerSpec& spec, const Vocabulary& vocabulary) {
  if (spec.merges.size() > max_merges)
    fail_input("{}: {} merges; at most {} are accepted", spec.source, spec.merges.size(), max_merges);
  table_.assign(std::bit_ceil(spec.merges.size() + spec.merges.size() / 4 + 8), empty);
  merged_.reserve(spec.merges.size());
  MergeReader reader(spec, vocabulary);
  for (std::size_t first = 0; first < spec.merges.size(); first += MergeReader::block) {
    const auto merges = std::span(spec.merges).subspan(first, std::min(MergeReader::block, spec.merges.size() - first));
    const std::span<const MergeReader::Found> found = reader.read(merges);
    for (std::size_t i = 0; i < merges.size(); ++i) {
      check(merges[i], first + i, found[i].left, found[i].right, found[i].merged, spec);
      __builtin_prefetch(&table_[hash_of(key_of(found[i].left, found[i].right)) & (table_.size() - 1)], 1);
      merged_.push_back(found[i].merged);
    }
    for (std::size_t i = 0; i < merges.size(); ++i)
      insert(found[i].left, found[i].right, static_cast<std::uint32_t>(first + i), spec);
  }
}

void MergeTable::insert(TokenId left, TokenId right, std::uint32_t rank, const TokenizerSpec& spec) {
  const std::uint64_t key = key_of(left, right);
  const std::size_t mask = table_.size() - 1;
  std::size_t i = hash_of(key) & mask;
  for (std::size_t probes = 0; table_[i] != empty && table_[i] >> rank_bits != key; i = (i + 1) & mask)
    if (++probes == max_probes) fail_input("{}: merges made to collide in a hash table", spec.source);
  table_[i] = key << rank_bits | rank;
}

std::uint32_t MergeTable::rank(TokenId left, TokenId right) const {
  const std::uint64_t key = key_of(left, right);
  const std::size_t mask = table_.size() - 1;
  for (std::size_t i = hash_of(key) & mask; table_[i] != empty; i = (i + 1) & mask)
    if (table_[i] >> rank_bits == key) return table_[i] & ((1u << rank_bits) - 1);
  return no_merge;
}

}  // namespace ridge::text
