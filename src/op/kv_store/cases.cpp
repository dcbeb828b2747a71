#include "op/kv_store/kv_store.h"
#include "op/case.h"

namespace ridge::op {

std::vector<Case> kv_store_cases() {
  std::vector<Case> cases;
  for (DType type : {DType::f32, DType::f16})
    cases.push_back({std::string(name(type)), {.tokens = 4}, [type](CaseInputs& in) {
                       kv_store(in.program, in.state("kv", type, {3, 2, 2, 16, 24}), in.activation("k", {Symbol::tokens, 48}),
                                in.activation("v", {Symbol::tokens, 48}), in.ints("slots", {Symbol::tokens}, {47, -1, 0, 17}));
                     }});
  return cases;
}

}  // namespace ridge::op
