// What the families' forward passes are made of: each part records what its name says, in the scope that the caller
// opened. Sizes in comments: T tokens, R rows wanted, D hidden, Q and KV columns of queries and keys, F feed-forward,
// V vocabulary.
#pragma once
#include <string_view>

#include "model/batch.h"
#include "model/config.h"
#include "model/weights.h"
#include "op/silu_gate/silu_gate.h"

namespace ridge::model {

struct Heads {
  ir::Value q, k, v;  // (T, Q), (T, KV), (T, KV)
};

// Weight `name` of a layer times x, times its scale and plus its bias where the file has them; the scope is named after
// it.
ir::Value linear(ir::Program& p, Weights& w, std::int64_t layer, std::string_view name, ir::Value x,
                 std::initializer_list<std::int64_t> shape);

// RMSNorm with the weight `name` of a layer, (T, D) or any width that the weight's length divides.
ir::Value norm(ir::Program& p, const Config& c, Weights& w, std::int64_t layer, std::string_view name, ir::Value x,
               std::int64_t length);

// Rows of the embedding for this step's tokens, scaled as the model wants them: (T, D).
ir::Value embed(ir::Program& p, const Config& c, Weights& w, const Batch& b);

// The angles of this step's positions, (T, rotated): cosines, then sines. From the configuration's scaling, or from the
// factors that the file brings.
ir::Value rope_angles(ir::Program& p, const Rope& rope, Weights& w, const Batch& b);

Heads project(ir::Program& p, const Config& c, Weights& w, std::int64_t layer, ir::Value x);  // attn_q, attn_k, attn_v
Heads rotated(ir::Program& p, const Config& c, Heads h, ir::Value angles);  // q and k, in their positions

// Stores k and v, attends to all keys that the layer's window lets see, and multiplies with attn_output: (T, D).
ir::Value attend(ir::Program& p, const Config& c, Weights& w, Batch& b, std::int64_t layer, const Heads& h);

// ffn_down (act(ffn_gate x) * ffn_up x): (T, D).
ir::Value gated_ffn(ir::Program& p, const Config& c, Weights& w, std::int64_t layer, ir::Value x,
                    op::GateKind kind = op::GateKind::silu);

// The same through the experts that the router chooses for each token: (T, D).
ir::Value routed_ffn(ir::Program& p, const Config& c, Weights& w, std::int64_t layer, ir::Value x);

// The head over normalized rows, the embedding itself where the model has no other: (R, D) -> logits (R, V), scaled and
// capped as the model wants them.
ir::Value logits(ir::Program& p, const Config& c, Weights& w, ir::Value x);

}  // namespace ridge::model
