// One request while it lives in the engine.
#pragma once
#include <cstdint>
#include <vector>

#include "engine/kv_pool.h"
#include "engine/sampling_params.h"
#include "engine/token_counts.h"

namespace ridge::engine {

using SequenceId = std::int64_t;

struct Sequence {
  SequenceId id = 0;
  std::vector<std::int32_t> tokens;  // the prompt, then what was generated; room for `limit` of them
  std::int64_t prompt_tokens = 0;
  std::int64_t limit = 0;  // with this many tokens it ends
  SamplingParams sampling;
  TokenCounts counts;
  BlockTable blocks;  // room for the blocks of `limit` tokens
};

}  // namespace ridge::engine
