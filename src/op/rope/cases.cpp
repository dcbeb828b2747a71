#include "op/rope/rope.h"
#include "op/case.h"

namespace ridge::op {

std::vector<Case> rope_angles_cases() {
  return {{"5 positions", {.tokens = 5}, [](CaseInputs& in) {
             rope_angles(in.program, in.ints("positions", {Symbol::tokens}, {0, 1, 2, 1000, 131071}), in.weight("f", DType::f32, {32}));
           }}};
}
std::vector<Case> rope_cases() {
  std::vector<Case> cases;
  for (RopeStyle style : {RopeStyle::halves, RopeStyle::pairs})
    for (int rotary : {2, 40, 64})
      cases.push_back({fmt::format("{} {} of 64", style == RopeStyle::halves ? "halves" : "pairs", rotary), {.tokens = 3}, [=](CaseInputs& in) {
                         rope(in.program, in.activation("x", {Symbol::tokens, 3 * 64}), in.activation("angles", {Symbol::tokens, rotary}), {.head_dim = 64, .style = style});
                       }});
  return cases;
}

}  // namespace ridge::op
