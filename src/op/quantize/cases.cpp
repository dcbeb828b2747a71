#include "op/case.h"
#include "op/quantize/quantize.h"

namespace ridge::op {

std::vector<Case> quantize_cases() {
  std::vector<Case> cases;
  for (std::int64_t d : {1, 31, 32, 33, 576})
    cases.push_back({fmt::format("3x{}", d),
                     {.tokens = 3},
                     [d](CaseInputs& in) {
                       quantize(in.program, in.activation("x", {Symbol::tokens, d}));
                     },
                     0});
  return cases;
}

}  // namespace ridge::op
