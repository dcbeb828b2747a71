#include "op/case.h"
#include "op/silu_gate/silu_gate.h"

namespace ridge::op {
namespace {

Case gated(GateKind kind, std::int64_t tokens, std::int64_t columns, float scale, DType out = DType::f32) {
  const bool quantizes = out == DType::q8_act;
  return {fmt::format("{} {}x{}, scale {}{}", kind == GateKind::silu ? "silu" : "gelu_tanh", tokens, columns, scale,
                      quantizes ? ", int8" : ""),
          {.tokens = tokens},
          [=](CaseInputs& in) {
            const ir::Value y = silu_gate(in.program, in.activation("gate", {Symbol::tokens, columns}, scale),
                                          in.activation("up", {Symbol::tokens, columns}), {kind});
            if (quantizes) in.store_q8(y);
          },
          quantizes ? 2e-3 : 1e-6};  // a quantized value may lie on the border of two steps
}

}  // namespace

std::vector<Case> silu_gate_cases() {
  std::vector<Case> cases;
  for (GateKind kind : {GateKind::silu, GateKind::gelu_tanh}) {
    for (float scale : {1e-3f, 1.0f, 4.0f, 100.0f})
      cases.push_back(gated(kind, 3, 77, scale));  // beyond 88 e^x is infinite
    cases.push_back(gated(kind, 1, 1, 1));
    cases.push_back(gated(kind, 0, 64, 1));
    cases.push_back(gated(kind, 40, 3000, 2));
    for (std::int64_t columns : {31, 1536, 3000}) cases.push_back(gated(kind, 3, columns, 2, DType::q8_act));
  }
  for (std::int64_t tokens : {1, 512})
    for (DType out : {DType::f32, DType::q8_act}) {
      cases.push_back(gated(GateKind::silu, tokens, 1536, 2, out));
      cases.back().timed = true;
    }
  return cases;
}

}  // namespace ridge::op
