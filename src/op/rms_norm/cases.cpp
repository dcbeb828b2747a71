#include "op/rms_norm/rms_norm.h"
#include "op/case.h"

namespace ridge::op {

std::vector<Case> rms_norm_cases() {
  std::vector<Case> cases;
  for (std::int64_t d : {8, 576, 1000})
    cases.push_back({fmt::format("3x{}", d), {.tokens = 3}, [d](CaseInputs& in) {
                       rms_norm(in.program, in.activation("x", {Symbol::tokens, d}), in.weight("w", DType::f32, {d}), {.eps = 1e-5f});
                     }});
  return cases;
}

}  // namespace ridge::op
