#include "op/attention/attention.h"
#include "op/case.h"

namespace ridge::op {

std::vector<Case> attention_cases() {
  std::vector<Case> cases;
  for (DType type : {DType::f32, DType::f16})
    for (std::int64_t window : {0, 7})
      cases.push_back({fmt::format("{} window {}", name(type), window), {.tokens = 6, .sequences = 2}, [=](CaseInputs& in) {
                         const Sequences s{in.ints("query_start", {Dim(Symbol::sequences, 1)}, {0, 1, 6}), in.ints("context_len", {Symbol::sequences}, {20, 5}),
                                           in.ints("block_table", {Symbol::sequences, 2}, {3, 1, 2, 0})};
                         attention(in.program, in.activation("q", {Symbol::tokens, 4 * 24}), in.state("kv", type, {4, 2, 2, 16, 24}), s,
                                   {.head_dim = 24, .scale = 0.2f, .window = window, .softcap = window ? 20.0f : 0.0f});
                       }, 1e-5});
  return cases;
}

}  // namespace ridge::op
