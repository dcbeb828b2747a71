#include "op/add/add.h"
#include "op/case.h"

namespace ridge::op {

std::vector<Case> add_cases() {
  std::vector<Case> cases;
  for (std::int64_t d : {1, 17, 576})
    cases.push_back({fmt::format("3x{}", d), {.tokens = 3}, [d](CaseInputs& in) {
                       add(in.program, in.activation("a", {Symbol::tokens, d}), in.activation("b", {Symbol::tokens, d}), {.scale = 0.5f});
                     }});
  return cases;
}

}  // namespace ridge::op
