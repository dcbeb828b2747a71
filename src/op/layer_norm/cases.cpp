#include "op/case.h"
#include "op/layer_norm/layer_norm.h"

namespace ridge::op {
namespace {

enum class Bias : std::uint8_t { none, added };

Case norm(std::int64_t tokens, std::int64_t columns, Bias bias, float scale = 1, DType out = DType::f32) {
  const bool quantizes = out == DType::q8_act;
  return {fmt::format("{}x{}{}, scale {}{}", tokens, columns, bias == Bias::added ? ", bias" : "", scale,
                      quantizes ? ", int8" : ""),
          {.tokens = tokens},
          [=](CaseInputs& in) {
            const ir::Value x = in.activation("x", {Symbol::tokens, columns}, scale),
                            w = in.weight("w", DType::f32, {columns});
            const ir::Value shift = bias == Bias::added ? in.weight("bias", DType::f32, {columns}) : ir::Value{};
            const ir::Value y = layer_norm(in.program, x, w, shift, {});
            if (quantizes) in.store_q8(y);
          },
          quantizes ? 2e-3 : 2e-6};  // a quantized value may lie on the border of two steps
}

}  // namespace

std::vector<Case> layer_norm_cases() {
  std::vector<Case> cases;
  for (std::int64_t d : {2, 8, 31, 768, 1000})
    for (Bias bias : {Bias::none, Bias::added}) cases.push_back(norm(3, d, bias));
  cases.push_back(norm(0, 64, Bias::added));
  cases.push_back(norm(300, 100, Bias::added));
  for (float scale : {1e-4f, 1e6f}) cases.push_back(norm(3, 100, Bias::added, scale));
  for (std::int64_t d : {31, 64, 768}) cases.push_back(norm(3, d, Bias::added, 1, DType::q8_act));
  for (std::int64_t tokens : {1, 512}) {
    cases.push_back(norm(tokens, 768, Bias::added));
    cases.back().timed = true;
  }
  return cases;
}

}  // namespace ridge::op
