#include "op/case.h"
#include "op/linear/linear.h"
#include "op/linear/panel.h"

namespace ridge::op {
namespace {

Case plain_case(DType type, int tokens, int columns, int rows) {
  return {fmt::format("{} {}x{} -> {}", name(type), tokens, columns, rows), {.tokens = tokens}, [=](CaseInputs& in) {
            linear(in.program, in.activation("x", {Symbol::tokens, columns}), in.weight("w", type, {rows, columns}),
                   in.weight("bias", DType::f32, {rows}));
          }};
}

Case int8_case(DType type, int tokens, int columns, int rows) {
  return {
      fmt::format("{} x int8 {}x{} -> {}", name(type), tokens, columns, rows), {.tokens = tokens}, [=](CaseInputs& in) {
        linear(in.program, in.activation_q8("x", {Symbol::tokens, columns}), in.weight("w", type, {rows, columns}));
      }};
}

// Merged q, k and v, each of another type, two of them with a bias.
Case segments_case() {
  return {"Q4_1, Q8_0 and F16 segments 3x64 -> 48, 17 and 33", {.tokens = 3}, [](CaseInputs& in) {
            const ir::Value x = in.activation("x", {Symbol::tokens, 64});
            const ir::Value q = in.weight("q", DType::q4_1, {48, 64}), k = in.weight("k", DType::q8_0, {17, 64});
            const ir::Value v = in.weight("v", DType::f16, {33, 64});
            const ir::Value q_bias = in.weight("q.bias", DType::f32, {48}),
                            v_bias = in.weight("v.bias", DType::f16, {33});
            in.program.record(linear_op, {x, q, k, v, q_bias, {}, v_bias}, LinearParams{.segments = 3});
          }};
}

Case timed(Case c) {
  c.timed = true;
  return c;
}

}  // namespace

std::vector<Case> linear_cases() {
  std::vector<Case> cases;
  for (const DTypeInfo& type : all_dtypes()) {
    if (!has_panels(type.id) || !type.encode) continue;
    const int columns = std::max(96, type.block_elems);
    cases.push_back(plain_case(type.id, 5, columns, 33));
    if (is_block(type.id)) cases.push_back(int8_case(type.id, 5, columns, 33));
  }
  cases.push_back(segments_case());
  for (int tokens : {1, 8}) {  // decode of one and of eight sequences
    for (DType type : {DType::q4_1, DType::q8_0, DType::q4_k, DType::q6_k})
      cases.push_back(timed(int8_case(type, tokens, 1536, 576)));
    cases.push_back(timed(plain_case(DType::bf16, tokens, 1536, 576)));
  }
  cases.push_back(timed(int8_case(DType::q4_1, 512, 576, 192)));  // prefill
  cases.push_back(timed(plain_case(DType::bf16, 512, 576, 192)));
  return cases;
}

}  // namespace ridge::op
