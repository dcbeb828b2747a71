#include "engine/kv_pool.h"

#include <algorithm>

#include "base/error.h"

namespace ridge::engine {

std::int64_t blocks_for(std::int64_t tokens, std::int64_t block_tokens) {
  return tokens / block_tokens + (tokens % block_tokens != 0);
}

KvPool::KvPool(std::int64_t blocks, std::int64_t block_tokens) : block_tokens_(block_tokens) {
  if (blocks < 1 || block_tokens < 1 || blocks > INT32_MAX / block_tokens)
    fail_bug("a KV pool of {} blocks of {} tokens; both must be positive and every slot must fit 31 bits", blocks,
             block_tokens);
  references_.assign(std::size_t(blocks), 0);
  free_.resize(std::size_t(blocks));
  for (std::int64_t i = 0; i < blocks; ++i)
    free_[std::size_t(i)] = std::int32_t(blocks - 1 - i);  // block 0 is given first
}

void KvPool::grow(BlockTable& table, std::int64_t tokens) {
  const std::int64_t more = blocks_for(tokens) - std::int64_t(table.size());
  if (more > free_blocks())
    fail_machine(
        "the KV cache is full: {} tokens need {} more blocks of {} tokens and {} of {} are free; "
        "run fewer sequences at once, or give the cache room for more with --context",
        tokens, more, block_tokens_, free_blocks(), blocks());
  for (std::int64_t i = 0; i < more; ++i) {
    table.push_back(free_.back());
    free_.pop_back();
    references_[std::size_t(table.back())] = 1;
  }
}

void KvPool::share(std::span<const std::int32_t> blocks) {
  for (std::int32_t b : blocks) {
    if (references(b) == 0) fail_bug("block {} is free and cannot be shared", b);
    ++references_[std::size_t(b)];
  }
}

void KvPool::release(BlockTable& table) {
  std::for_each(table.rbegin(), table.rend(), [&](std::int32_t b) {
    if (references(b) == 0) fail_bug("block {} is freed twice", b);
    if (--references_[std::size_t(b)] == 0) free_.push_back(b);
  });
  table.clear();
}

}  // namespace ridge::engine
