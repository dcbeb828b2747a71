// The gate of a gated feed-forward: out = act(gate) * up. SwiGLU with silu, GeGLU with the tanh form of gelu
// (Shazeer 2020, "GLU variants improve transformer").
#pragma once
#include "ir/program.h"

namespace ridge::op {

enum class GateKind : std::uint8_t {
  silu,       // x / (1 + exp(-x))
  gelu_tanh,  // 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
};
struct SiluGateParams {
  GateKind kind = GateKind::silu;
};

extern const ir::OpInfo silu_gate_op;

// gate and up (T, F) f32 -> (T, F). A pass may turn the output into q8_act.
ir::Value silu_gate(ir::Program& p, ir::Value gate, ir::Value up, SiluGateParams params = {});

}  // namespace ridge::op
