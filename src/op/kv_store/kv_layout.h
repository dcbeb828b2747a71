// How keys and values lie in a layer's state: the contract between kv_store, which writes, attention, which reads,
// and the pool in engine/, which hands out blocks.
//
// State (blocks, 2, kv_heads, block_size, head_dim): a pool of blocks of block_size tokens; half 0 holds keys, half 1
// values. Token `slot` = block * block_size + place. A (block, half, head) tile is
//   keys:    head_dim x block_size, so that one vector holds the same element of many keys (scores need no sums across
//            lanes, hence one order of summation whatever the vector's width);
//   values:  block_size x head_dim.
// Blocks are written once per token and never moved; a sequence names its blocks by its block table.
#pragma once
#include "tensor/view.h"

#if defined(__CUDACC__)
#define RIDGE_BOTH __host__ __device__  // the one description of the layout serves both
#else
#define RIDGE_BOTH
#endif

namespace ridge::op {

struct KvLayout {
  std::int64_t blocks, heads, block_size, head_dim;
  explicit KvLayout(const View& state)
      : blocks(state.dim(0)), heads(state.dim(2)), block_size(state.dim(3)), head_dim(state.dim(4)) {}
  RIDGE_BOTH std::int64_t tile_elems() const { return block_size * head_dim; }
  // Element offset of a tile; 64-bit throughout: a pool may hold more than 2^31 elements.
  RIDGE_BOTH std::int64_t keys(std::int64_t block, std::int64_t head) const {
    return (block * 2 * heads + head) * tile_elems();
  }
  RIDGE_BOTH std::int64_t values(std::int64_t block, std::int64_t head) const {
    return ((block * 2 + 1) * heads + head) * tile_elems();
  }
  RIDGE_BOTH std::int64_t key_at(std::int64_t place, std::int64_t i) const { return i * block_size + place; }
  RIDGE_BOTH std::int64_t value_at(std::int64_t place, std::int64_t i) const { return place * head_dim + i; }
};

}  // namespace ridge::op
