#include "op/add/add.h"
#include "op/case.h"

namespace ridge::op {
namespace {

Case sum(std::int64_t tokens, std::int64_t d, float scale) {
  return {fmt::format("{}x{}, scale {}", tokens, d, scale), {.tokens = tokens}, [=](CaseInputs& in) {
            add(in.program, in.activation("a", {Symbol::tokens, d}), in.activation("b", {Symbol::tokens, d}),
                {.scale = scale});
          }};
}

}  // namespace

std::vector<Case> add_cases() {
  std::vector<Case> cases{sum(1, 1, 1), sum(3, 17, 0.5f), sum(0, 16, 1), sum(1, 576, -2), sum(300, 100, 1)};
  for (std::int64_t tokens : {1, 512}) {
    cases.push_back(sum(tokens, 576, 1));
    cases.back().timed = true;
  }
  return cases;
}

}  // namespace ridge::op
