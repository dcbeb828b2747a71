#include "op/silu_gate/silu_gate.h"
#include "op/case.h"

namespace ridge::op {

std::vector<Case> silu_gate_cases() {
  std::vector<Case> cases;
  for (GateKind kind : {GateKind::silu, GateKind::gelu_tanh})
    cases.push_back({kind == GateKind::silu ? "silu" : "gelu_tanh", {.tokens = 3}, [kind](CaseInputs& in) {
                       silu_gate(in.program, in.activation("gate", {Symbol::tokens, 77}, 4), in.activation("up", {Symbol::tokens, 77}), {kind});
                     }});
  return cases;
}

}  // namespace ridge::op
