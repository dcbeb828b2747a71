// Rows of a table: out[t] = scale * table[tokens[t]]. Any dtype that decodes; a token outside the table is refused
// by whoever fills `tokens` (engine), not here.
#pragma once
#include "ir/program.h"

namespace ridge::op {

struct EmbeddingParams {
  float scale = 1;  // Gemma: sqrt(hidden)
};

extern const ir::OpInfo embedding_op;

// tokens (T) i32, table (V, D) -> (T, D) f32
ir::Value embedding(ir::Program& p, ir::Value tokens, ir::Value table, EmbeddingParams params = {});

}  // namespace ridge::op
