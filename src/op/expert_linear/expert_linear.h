// The products of a mixture of experts: each token with the matrices of its own experts, y = x W[e]^T.
#pragma once
#include "ir/program.h"

namespace ridge::op {

struct ExpertLinearParams {};

extern const ir::OpInfo expert_linear_op;

// In: x (T, K) f32 or q8_act, experts (T, k) i32 below E, weight (E, N, K) of any dtype that decodes -> (T, k N) f32:
// each token's k products side by side. Inputs of the call: {x, experts, weight, mix}, the last one absent.
ir::Value expert_linear(ir::Program& p, ir::Value x, ir::Value experts, ir::Value weight);

// Out: x (T, k K), an expert's part after the other; mix (T, k) f32 -> (T, N) f32: the sum of the k products, each
// times its weight in `mix`, in their order.
ir::Value expert_linear_mixed(ir::Program& p, ir::Value x, ir::Value experts, ir::Value weight, ir::Value mix);

}  // namespace ridge::op
