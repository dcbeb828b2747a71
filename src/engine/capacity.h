// How much an engine holds: what is decided before a model is recorded, because the state's and inputs' shapes follow.
#pragma once
#include <cstdint>

#include "engine/kv_pool.h"
#include "engine/scheduler.h"
#include "model/loaded.h"

namespace ridge::engine {

struct Capacity {
  std::int64_t context = 4096;      // tokens of the longest sequence, prompt and generation
  std::int64_t sequences = 1;       // that run at once
  std::int64_t batch_tokens = 512;  // of one step
  std::int64_t cache_tokens = 0;    // of all sequences together; 0: context * sequences. At least `context`
  std::int64_t block_tokens = default_block_tokens;

  std::int64_t blocks_per_sequence() const { return blocks_for(context, block_tokens); }
  std::int64_t blocks() const {
    return cache_tokens > 0 ? blocks_for(cache_tokens, block_tokens) : blocks_per_sequence() * sequences;
  }
  Limits limits() const { return {.batch_tokens = batch_tokens, .sequences = sequences, .block_tokens = block_tokens}; }
};

// Refuses what cannot work (Fault::input, naming the number and what is accepted).
Capacity checked(Capacity capacity);

// `options` for a model that is loaded to generate: `vocabulary` bounds the sampling call's adjustments.
model::LoadOptions for_generation(model::LoadOptions options, const Capacity& capacity, std::int64_t vocabulary);

}  // namespace ridge::engine
