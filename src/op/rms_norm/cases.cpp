#include "op/case.h"
#include "op/rms_norm/rms_norm.h"

namespace ridge::op {
namespace {

enum class Residual : std::uint8_t { none, added };

struct Form {
  std::int64_t tokens, columns, group;
  DType weight = DType::f32, out = DType::f32;
  Residual residual = Residual::none;
  float offset = 0, scale = 1;
};

// A quantized output may differ by a step where a value lies on the border of two.
constexpr double one_step_in_some = 2e-3;

Case norm(std::string name, Form f) {
  return {fmt::format("{} {}x{}", name, f.tokens, f.columns),
          {.tokens = f.tokens},
          [=](CaseInputs& in) {
            const RmsNormParams params{.eps = 1e-5f, .offset = f.offset};
            const ir::Value x = in.activation("x", {Symbol::tokens, f.columns}, f.scale),
                            w = in.weight("w", f.weight, {f.group});
            std::vector<ir::Value> inputs{x, w};
            if (f.residual == Residual::added) inputs.push_back(in.activation("residual", {Symbol::tokens, f.columns}));
            const ir::Value y = in.program.record(rms_norm_op, inputs, params)[0];
            if (f.out == DType::q8_act) in.store_q8(y);
          },
          f.out == DType::q8_act ? one_step_in_some : 1e-6};
}

Case timed(Case c) {
  c.timed = true;
  return c;
}

}  // namespace

std::vector<Case> rms_norm_cases() {
  std::vector<Case> cases;
  for (std::int64_t d : {1, 8, 31, 576, 1000}) cases.push_back(norm("plain", {3, d, d}));
  cases.push_back(norm("no rows", {0, 64, 64}));
  cases.push_back(norm("many rows", {300, 100, 100}));
  cases.push_back(norm("heads of 24", {5, 72, 24}));
  cases.push_back(norm("heads of 128", {40, 1024, 128}));
  cases.push_back(norm("offset 1", {3, 100, 100, DType::f32, DType::f32, Residual::none, 1}));
  cases.push_back(norm("small values", {3, 100, 100, DType::f32, DType::f32, Residual::none, 0, 1e-4f}));
  cases.push_back(norm("large values", {3, 100, 100, DType::f32, DType::f32, Residual::none, 0, 1e6f}));
  for (DType weight : {DType::f16, DType::bf16})
    cases.push_back(norm(fmt::format("weight {}", name(weight)), {3, 100, 100, weight}));
  cases.push_back(norm("residual", {3, 100, 100, DType::f32, DType::f32, Residual::added}));
  cases.push_back(norm("residual, many rows", {300, 96, 96, DType::f32, DType::f32, Residual::added}));
  for (std::int64_t d : {31, 64, 576}) cases.push_back(norm("int8", {3, d, d, DType::f32, DType::q8_act}));
  cases.push_back(norm("int8, residual, weight BF16", {300, 96, 96, DType::bf16, DType::q8_act, Residual::added}));
  for (std::int64_t tokens : {1, 512}) {
    cases.push_back(timed(norm("plain", {tokens, 576, 576})));
    cases.push_back(timed(norm("int8, residual", {tokens, 576, 576, DType::f32, DType::q8_act, Residual::added})));
  }
  return cases;
}

}  // namespace ridge::op
