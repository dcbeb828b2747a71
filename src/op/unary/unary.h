// One value at a time: y = f(x), for what has no neighbour to be fused with.
#pragma once
#include "ir/program.h"

namespace ridge::op {

enum class UnaryKind : std::uint8_t {
  scale,      // amount * x: Granite's and Cohere's logits
  softcap,    // amount * tanh(x / amount): Gemma 2's logits
  gelu_tanh,  // 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), as GPT-2 has it (Hendrycks and Gimpel 2016)
};
struct UnaryParams {
  UnaryKind kind = UnaryKind::scale;
  float amount = 1;
};

extern const ir::OpInfo unary_op;

// x (T, F) f32 -> (T, F). A pass may turn the output into q8_act.
ir::Value unary(ir::Program& p, ir::Value x, UnaryParams params);

}  // namespace ridge::op
