#include "engine/capacity.h"

#include "base/error.h"
#include "engine/token_counts.h"

namespace ridge::engine {
namespace {

constexpr std::int64_t most_tokens = std::int64_t(1) << 30;  // slots are 31 bits

void expect(std::string_view field, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value < least || value > most) fail_input("{} is {}; accepted: {} to {}", field, value, least, most);
}

}  // namespace

Capacity checked(Capacity c) {
  expect("the block size", c.block_tokens, 1, 4096);
  expect("the context", c.context, 2, most_tokens);
  expect("the number of sequences at once", c.sequences, 1, 1 << 16);
  expect("the tokens of a step", c.batch_tokens, c.sequences, most_tokens);
  if (c.cache_tokens == 0) expect("the context times the number of sequences", c.context * c.sequences, 2, most_tokens);
  else expect("the size of the KV cache in tokens", c.cache_tokens, c.context, most_tokens);
  return c;
}

model::LoadOptions for_generation(model::LoadOptions options, const Capacity& c, std::int64_t vocabulary) {
  options.max_tokens = c.batch_tokens;
  options.max_sequences = c.sequences;
  options.max_rows = c.sequences;
  options.context = c.context;
  options.kv_blocks = c.blocks();
  options.kv_block_size = c.block_tokens;
  options.max_adjusts = TokenCounts::most_adjusts(c.context, vocabulary) * c.sequences;
  return options;
}

}  // namespace ridge::engine
