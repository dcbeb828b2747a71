// The merging of byte pair encoding (Sennrich et al. 2016): the best pair of neighbours becomes one symbol, leftmost
// first among equals, until no pair merges. Quadratic with tiny constants for short words, n log n with a heap beyond.
//
// `Pairs` says what merges, for symbols known by their place in a word:
//   std::uint32_t priority(left, right, end)  lower is earlier, no_merge is never; the pair's text ends where symbol
//   `end`
//                                             starts
//   void merge(left, priority)                the pair becomes one symbol, at the place `left`
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "text/merge_table.h"

namespace ridge::text {

struct MergeScratch {
  std::vector<std::uint32_t> next, previous, priority;  // of each symbol: neighbours, and of the pair it starts
  std::vector<std::uint64_t> heap;                      // priority << 32 | place
};

// Merges symbols 0 … count-1 in place. Afterwards the symbols left are 0, next[0], next[next[0]], … up to `count`.
template <class Pairs> void merge_symbols(Pairs& pairs, std::uint32_t count, MergeScratch& s) {
  s.next.resize(count + 1);
  s.previous.resize(count + 1);
  s.priority.assign(count + 1, no_merge);
  s.heap.clear();
  for (std::uint32_t i = 0; i < count; ++i) {
    s.next[i] = i + 1;
    s.previous[i] = i - 1;
  }
  for (std::uint32_t i = 0; i + 1 < count; ++i) {
    s.priority[i] = pairs.priority(i, i + 1, i + 2);
    if (s.priority[i] != no_merge) s.heap.push_back(std::uint64_t(s.priority[i]) << 32 | i);
  }
  const std::greater<std::uint64_t> earliest_on_top;
  std::make_heap(s.heap.begin(), s.heap.end(), earliest_on_top);
  const auto renew = [&](std::uint32_t i) {  // the pair that symbol i starts has changed
    const std::uint32_t right = s.next[i];
    s.priority[i] = right < count ? pairs.priority(i, right, s.next[right]) : no_merge;
    if (s.priority[i] == no_merge) return;
    s.heap.push_back(std::uint64_t(s.priority[i]) << 32 | i);
    std::push_heap(s.heap.begin(), s.heap.end(), earliest_on_top);
  };
  while (!s.heap.empty()) {
    std::pop_heap(s.heap.begin(), s.heap.end(), earliest_on_top);
    const std::uint64_t top = s.heap.back();
    s.heap.pop_back();
    const auto i = static_cast<std::uint32_t>(top);
    if (s.priority[i] != top >> 32) continue;  // that pair is gone
    const std::uint32_t gone = s.next[i];
    pairs.merge(i, s.priority[i]);
    s.priority[gone] = no_merge;
    s.next[i] = s.next[gone];
    s.previous[s.next[i]] = i;
    renew(i);
    if (i != 0) renew(s.previous[i]);
  }
}

// The same for a short word of ids, which shrinks in place; returns how many are left.
inline constexpr std::size_t short_word = 24;
std::size_t merge_short(const MergeTable& merges, TokenId* ids, std::size_t count);

}  // namespace ridge::text
