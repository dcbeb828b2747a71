#include "op/case.h"
#include "op/fused_linear/fused_linear.h"

namespace ridge::op {
namespace {

Case fused(FusedLinearParams f, DType type, int tokens, std::int64_t columns, std::vector<std::int64_t> rows,
           bool bias = false) {
  f.segments = int(rows.size());
  const char* finish = f.finish == Finish::add ? ", add" : f.finish == Finish::gate ? ", gate" : "";
  return {fmt::format("{} {}x{} -> {}{}{}{}{}{}", name(type), tokens, columns, rows[0], rows.size() > 1 ? "+" : "",
                      f.norm ? ", norm" : "", f.quantize ? ", int8" : "", finish, bias ? ", bias" : ""),
          {.tokens = tokens},
          [=](CaseInputs& in) {
            const ir::Value x = in.activation("x", {Symbol::tokens, columns});
            std::vector<ir::Value> inputs{
                x, f.norm ? in.weight("norm", DType::f32, {columns}) : ir::Value{},
                f.finish == Finish::add ? in.activation("residual", {Symbol::tokens, rows[0]}) : ir::Value{}};
            for (std::int64_t r : rows) inputs.push_back(in.weight("w", type, {r, columns}));
            for (std::int64_t r : rows) inputs.push_back(bias ? in.weight("bias", DType::f32, {r}) : ir::Value{});
            in.program.record(fused_linear_op, inputs, f);
          },
          f.quantize ? 2e-3 : 2e-6};
}

}  // namespace

std::vector<Case> fused_linear_cases() {
  std::vector<Case> cases;
  for (DType type :
       {DType::f32, DType::bf16, DType::f16, DType::q8_0, DType::q4_k, DType::q4_0, DType::q6_k, DType::q4_1}) {
    const bool blocks = is_block(type);
    const std::int64_t k = blocks ? 512 : 328;
    for (int tokens : {1, 3, 8, 17}) {
      cases.push_back(fused({.norm = true, .eps = 1e-5f, .quantize = blocks}, type, tokens, k, {96, 33, 40}));
      cases.push_back(fused({.quantize = blocks, .finish = Finish::add, .scale = 0.5f}, type, tokens, k, {45}, true));
      cases.push_back(fused({.norm = true, .eps = 1e-6f, .offset = 1, .quantize = blocks, .finish = Finish::gate}, type,
                            tokens, k, {70, 70}));
    }
    cases.push_back(fused({.finish = Finish::gate, .gate = GateKind::gelu_tanh}, type, 2, k, {9, 9}, true));
    cases.push_back(fused({.norm = true, .eps = 1e-5f, .quantize = blocks}, type, 0, k, {8}));
    cases.push_back(fused({.norm = true, .eps = 1e-5f, .quantize = blocks}, type, 1, 4096, {300}));
  }
  return cases;
}

}  // namespace ridge::op
