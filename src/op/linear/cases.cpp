#include "op/linear/linear.h"
#include "op/case.h"

namespace ridge::op {

std::vector<Case> linear_cases() {
  std::vector<Case> cases;
  for (DType type : {DType::f32, DType::f16, DType::bf16, DType::q8_0, DType::q4_0, DType::q4_1})
    cases.push_back({fmt::format("{} 5x96 -> 33", name(type)), {.tokens = 5}, [type](CaseInputs& in) {
                       linear(in.program, in.activation("x", {Symbol::tokens, 96}), in.weight("w", type, {33, 96}), in.weight("bias", DType::f32, {33}));
                     }});
  return cases;
}

}  // namespace ridge::op
