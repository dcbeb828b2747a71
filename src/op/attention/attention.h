// Scaled dot-product attention over a paged cache, with grouped queries (GQA), causal mask, sliding window and logit
// softcap. One call serves prefill, chunked prefill and decode of several sequences: sequence b's queries are rows
// query_start[b] .. query_start[b + 1] of q, they are its last tokens, and its keys, this step's included, are the
// first context_len[b] places of the blocks that block_table[b] names.
#pragma once
#include "ir/program.h"

namespace ridge::op {

struct AttentionParams {
  int head_dim = 0;
  float scale = 0;          // multiplies q k^T, usually 1 / sqrt(head_dim)
  std::int64_t window = 0;  // each query sees at most this many keys, itself included; 0: all
  float softcap = 0;        // s -> softcap * tanh(s / softcap); 0: none
  bool causal = true;
};

struct Sequences {        // which rows and blocks belong to whom; inputs of the step
  ir::Value query_start;  // (B + 1) i32
  ir::Value context_len;  // (B) i32
  ir::Value block_table;  // (B, most blocks) i32
};

extern const ir::OpInfo attention_op;

// q (T, Hq * d) f32, state (blocks, 2, Hkv, block_size, d) -> (T, Hq * d). Hkv divides Hq. A pass may turn the output
// into q8_act. Inputs of the call: {q, state, query_start, context_len, block_table}.
ir::Value attention(ir::Program& p, ir::Value q, ir::Value state, const Sequences& s, AttentionParams params);

// The same without a cache, for training and encoders: k and v (T, Hkv * d) f32 are this step's own rows, and each
// sequence's keys are its own queries' rows. Inputs of the call: {q, k, v, query_start}.
ir::Value attention_uncached(ir::Program& p, ir::Value q, ir::Value k, ir::Value v, ir::Value query_start,
                             AttentionParams params);

}  // namespace ridge::op
