// When rows of work are worth other threads: handing them out costs about half a microsecond, so a decode step's few
// small rows are done where the call is.
#pragma once
#include <algorithm>

#include "base/thread_pool.h"

namespace ridge::op {

inline constexpr std::int64_t worth_sharing_bytes = 64 << 10;  // some 2 us of work in the first caches
inline constexpr std::int64_t least_share_bytes = 8 << 10;     // and no piece smaller than this

// body(begin, end, worker) over [0, rows), each row moving about `row_bytes`.
template <class Body> void share_rows(ThreadPool& pool, std::int64_t rows, std::int64_t row_bytes, Body body) {
  if (pool.threads() == 1 || rows * row_bytes < worth_sharing_bytes) {
    if (rows > 0) body(std::int64_t(0), rows, 0);
    return;
  }
  const std::int64_t even = rows / (8 * std::int64_t(pool.threads())), least = least_share_bytes / (row_bytes + 1);
  pool.parallel_ranges(rows, std::max<std::int64_t>({even, least, 1}), body);
}

}  // namespace ridge::op
