#include "op/case.h"
#include "op/scale_columns/scale_columns.h"

namespace ridge::op {
namespace {

enum class Bias : std::uint8_t { none, added };

Case scaled(std::int64_t tokens, std::int64_t columns, std::int64_t scales, Bias bias) {
  return {fmt::format("{}x{}, {} scales{}", tokens, columns, scales, bias == Bias::added ? ", bias" : ""),
          {.tokens = tokens},
          [=](CaseInputs& in) {
            const ir::Value x = in.activation("x", {Symbol::tokens, columns}),
                            scale = in.weight("scale", DType::f32, {scales});
            scale_columns(in.program, x, scale,
                          bias == Bias::added ? in.weight("bias", DType::f32, {columns}) : ir::Value{});
          }};
}

}  // namespace

std::vector<Case> scale_columns_cases() {
  std::vector<Case> cases{scaled(0, 16, 16, Bias::none), scaled(1, 1, 1, Bias::added)};
  for (Bias bias : {Bias::none, Bias::added}) {
    cases.push_back(scaled(3, 77, 77, bias));
    cases.push_back(scaled(3, 77, 1, bias));
    cases.push_back(scaled(300, 100, 100, bias));
  }
  for (std::int64_t tokens : {1, 512}) {
    cases.push_back(scaled(tokens, 4096, 4096, Bias::none));
    cases.back().timed = true;
  }
  return cases;
}

}  // namespace ridge::op
