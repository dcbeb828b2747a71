// The blocks of the KV cache: who holds which. A block is the same place in every layer's state (op/kv_store/
// kv_layout.h says how it lies there); a sequence holds a list of them, its block table, and token t of the sequence
// lies in place t % block_tokens of its block t / block_tokens. Blocks are counted by reference, so that sequences may
// share what they have in common; a block that nobody refers to is free.
//
// The pool moves no data and knows no sequence. One thread at a time.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace ridge::engine {

inline constexpr std::int64_t default_block_tokens = 32;  // the page size

// Blocks that hold `tokens` tokens.
std::int64_t blocks_for(std::int64_t tokens, std::int64_t block_tokens);

using BlockTable = std::vector<std::int32_t>;

class KvPool {
 public:
  explicit KvPool(std::int64_t blocks, std::int64_t block_tokens = default_block_tokens);

  std::int64_t blocks() const { return std::int64_t(references_.size()); }
  std::int64_t free_blocks() const { return std::int64_t(free_.size()); }
  std::int64_t block_tokens() const { return block_tokens_; }
  std::int64_t blocks_for(std::int64_t tokens) const { return engine::blocks_for(tokens, block_tokens_); }
  int references(std::int32_t block) const { return references_[std::size_t(block)]; }

  // Appends free blocks until the table holds `tokens` tokens. Where there are too few it takes none and throws
  // Fault::machine: what is needed, what there is, which flag helps. Allocates only where the table's capacity ends.
  void grow(BlockTable& table, std::int64_t tokens);
  void share(std::span<const std::int32_t> blocks);  // one more reference to each
  void release(BlockTable& table);                   // one less to each; the table is empty after it

 private:
  std::int64_t block_tokens_;
  std::vector<std::int32_t> references_;  // by block
  std::vector<std::int32_t> free_;        // a stack: the block that was freed last, warm in the cache, is given first
};

}  // namespace ridge::engine
