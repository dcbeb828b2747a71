#include "engine/step_inputs.h"

#include <algorithm>

namespace ridge::engine {
namespace {

Sizes sizes_of(std::span<const Share> shares) {
  Sizes s{.sequences = std::int64_t(shares.size())};
  for (const Share& share : shares) s.tokens += share.count, s.rows += share.wants_token;
  return s;
}

// The share's rows of tokens, positions and slots, from `row` on.
struct TokenRows {
  std::int32_t *tokens, *positions, *slots;
  void write(std::int64_t row, const Share& share, const Sequence& sequence, std::int64_t block_tokens) const {
    for (std::int64_t i = 0; i < share.count; ++i) {
      const std::int64_t position = share.first + i;
      tokens[row + i] = sequence.tokens[std::size_t(position)];
      positions[row + i] = std::int32_t(position);
      slots[row + i] =
          std::int32_t(sequence.blocks[std::size_t(position / block_tokens)] * block_tokens + position % block_tokens);
    }
  }
};

}  // namespace

void write_step(program::Executor& executor, const model::Batch& batch, std::span<const Share> shares,
                std::span<const Sequence> sequences, std::int64_t block_tokens) {
  const Sizes sizes = sizes_of(shares);
  executor.bind(executor.rounded(sizes));
  const auto ints = [&](ir::Value v) { return executor.input(v).as<std::int32_t>(); };
  const TokenRows to{ints(batch.tokens), ints(batch.positions), ints(batch.slots)};
  std::int32_t* wanted = ints(batch.wanted);
  std::int32_t* query_start = ints(batch.sequences.query_start);
  std::int32_t* context_len = ints(batch.sequences.context_len);
  const View tables = executor.input(batch.sequences.block_table);

  std::int64_t row = 0;
  for (std::size_t b = 0; b < shares.size(); ++b) {
    const Share& share = shares[b];
    const Sequence& sequence = sequences[std::size_t(share.sequence)];
    to.write(row, share, sequence, block_tokens);
    query_start[b] = std::int32_t(row);
    context_len[b] = std::int32_t(share.first + share.count);
    std::ranges::copy(sequence.blocks, tables.row_as<std::int32_t>(std::int64_t(b)));
    row += share.count;
    if (share.wants_token) *wanted++ = std::int32_t(row - 1);
  }
  query_start[shares.size()] = std::int32_t(row);
  fill_up(executor, batch, sizes);
}

void fill_up(program::Executor& executor, const model::Batch& batch, const Sizes& sizes) {
  const auto ints = [&](ir::Value v) { return executor.input(v).as<std::int32_t>(); };
  const std::int64_t tokens = executor.input(batch.tokens).dim(0), rows = executor.input(batch.wanted).dim(0);
  const std::int64_t sequences = executor.input(batch.sequences.context_len).dim(0);
  for (std::int64_t t = sizes.tokens; t < tokens; ++t)
    ints(batch.tokens)[t] = 0, ints(batch.positions)[t] = 0, ints(batch.slots)[t] = -1;
  for (std::int64_t r = sizes.rows; r < rows; ++r) ints(batch.wanted)[r] = 0;
  for (std::int64_t b = sizes.sequences; b < sequences; ++b) {
    ints(batch.sequences.context_len)[b] = 0;
    ints(batch.sequences.query_start)[b + 1] =
        std::int32_t(b + 1 < sequences ? std::min(tokens, sizes.tokens + b + 1 - sizes.sequences) : tokens);
  }
}

}  // namespace ridge::engine
