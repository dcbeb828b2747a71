#include "op/embedding/embedding.h"
#include "op/case.h"

namespace ridge::op {

std::vector<Case> embedding_cases() {
  std::vector<Case> cases;
  for (DType type : {DType::f32, DType::f16, DType::bf16, DType::q8_0, DType::q4_1})
    cases.push_back({fmt::format("{} 33x40", name(type)), {.tokens = 4}, [type](CaseInputs& in) {
                       embedding(in.program, in.ints("tokens", {Symbol::tokens}, {0, 32, 5, 5}), in.weight("table", type, {33, 40}), {.scale = 3});
                     }});
  return cases;
}

}  // namespace ridge::op
