#include "op/case.h"
#include "op/unary/unary.h"

namespace ridge::op {
namespace {

Case mapped(UnaryParams params, std::int64_t tokens, std::int64_t columns, float scale, DType out = DType::f32) {
  const bool quantizes = out == DType::q8_act;
  const char* const kinds[] = {"scale", "softcap", "gelu_tanh"};
  return {fmt::format("{} {} {}x{}, scale {}{}", kinds[int(params.kind)], params.amount, tokens, columns, scale,
                      quantizes ? ", int8" : ""),
          {.tokens = tokens},
          [=](CaseInputs& in) {
            const ir::Value y = unary(in.program, in.activation("x", {Symbol::tokens, columns}, scale), params);
            if (quantizes) in.store_q8(y);
          },
          quantizes ? 2e-3 : 1e-6};  // a quantized value may lie on the border of two steps
}

}  // namespace

std::vector<Case> unary_cases() {
  std::vector<Case> cases;
  for (const UnaryParams params : {UnaryParams{UnaryKind::scale, 0.125f}, UnaryParams{UnaryKind::softcap, 30},
                                   UnaryParams{UnaryKind::gelu_tanh}}) {
    for (float scale : {1e-3f, 1.0f, 4.0f, 100.0f}) cases.push_back(mapped(params, 3, 77, scale));
    cases.push_back(mapped(params, 1, 1, 1));
    cases.push_back(mapped(params, 0, 64, 1));
    cases.push_back(mapped(params, 40, 3000, 2));
    for (std::int64_t columns : {31, 3000}) cases.push_back(mapped(params, 3, columns, 2, DType::q8_act));
  }
  for (std::int64_t tokens : {1, 512}) {
    cases.push_back(mapped({UnaryKind::gelu_tanh}, tokens, 3072, 2));
    cases.back().timed = true;
  }
  return cases;
}

}  // namespace ridge::op
