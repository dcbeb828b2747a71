#include "text/merge.h"

#include <cstring>

namespace ridge::text {

std::size_t merge_short(const MergeTable& merges, TokenId* ids, std::size_t count) {
  std::uint32_t ranks[short_word];
  for (std::size_t i = 0; i + 1 < count; ++i) ranks[i] = merges.rank(ids[i], ids[i + 1]);
  while (count > 1) {
    std::size_t best = 0;
    for (std::size_t i = 1; i + 1 < count; ++i)
      if (ranks[i] < ranks[best]) best = i;
    if (ranks[best] == no_merge) break;
    ids[best] = merges.merged(ranks[best]);
    std::memmove(ids + best + 1, ids + best + 2, (count - best - 2) * sizeof *ids);
    std::memmove(ranks + best, ranks + best + 1, (count - best - 2) * sizeof *ranks);
    --count;
    if (best + 1 < count) ranks[best] = merges.rank(ids[best], ids[best + 1]);
    if (best > 0) ranks[best - 1] = merges.rank(ids[best - 1], ids[best]);
  }
  return count;
}

}  // namespace ridge::text
