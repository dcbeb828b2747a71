#include "op/case.h"
#include "op/expert_linear/expert_linear.h"
#include "op/linear/panel.h"

namespace ridge::op {
namespace {

struct Form {
  std::int64_t tokens, experts, used, inputs, outputs;
  DType type = DType::f32;
  DType x = DType::f32;
};

// Different experts for a token; the last ones are used by nobody when there are many.
std::vector<std::int32_t> choices(const Form& f) {
  std::vector<std::int32_t> list;
  for (std::int64_t t = 0; t < f.tokens; ++t)
    for (std::int64_t j = 0; j < f.used; ++j) list.push_back(std::int32_t((t * t * 7 + j * 3) % f.experts));
  return list;
}

std::string name_of(const Form& f, const char* kind) {
  return fmt::format("{} {} x {}, {} of {}, {}x{} -> {}", kind, name(f.type), f.x == DType::q8_act ? "int8" : "f32",
                     f.used, f.experts, f.tokens, f.inputs, f.outputs);
}

ir::Value input(CaseInputs& in, const Form& f, std::int64_t columns) {
  return f.x == DType::q8_act ? in.activation_q8("x", {Symbol::tokens, columns})
                              : in.activation("x", {Symbol::tokens, columns});
}

Case apart(Form f) {
  return {
      name_of(f, "apart"), {.tokens = f.tokens}, [=](CaseInputs& in) {
        const ir::Value x = input(in, f, f.inputs), experts = in.ints("experts", {Symbol::tokens, f.used}, choices(f));
        expert_linear(in.program, x, experts, in.weight("w", f.type, {f.experts, f.outputs, f.inputs}));
      }};
}

Case mixed(Form f) {
  return {name_of(f, "mixed"), {.tokens = f.tokens}, [=](CaseInputs& in) {
            const ir::Value x = input(in, f, f.used * f.inputs),
                            experts = in.ints("experts", {Symbol::tokens, f.used}, choices(f));
            const ir::Value w = in.weight("w", f.type, {f.experts, f.outputs, f.inputs});
            expert_linear_mixed(in.program, x, experts, w, in.activation("mix", {Symbol::tokens, f.used}));
          }};
}

}  // namespace

std::vector<Case> expert_linear_cases() {
  std::vector<Case> cases;
  for (auto* form : {apart, mixed}) {
    cases.push_back(form({5, 4, 2, 96, 33}));
    cases.push_back(form({1, 8, 3, 31, 17}));
    cases.push_back(form({0, 8, 2, 32, 16}));
    cases.push_back(form({3, 1, 1, 64, 16}));
    cases.push_back(form({70, 128, 8, 64, 48}));
    for (DType type : {DType::f16, DType::bf16, DType::q8_0, DType::q4_1})
      cases.push_back(form({5, 4, 2, 96, 33, type}));
    for (DType type : {DType::q8_0, DType::q4_1, DType::mxfp4})
      cases.push_back(form({5, 4, 2, 96, 33, type, DType::q8_act}));
    cases.push_back(form({5, 4, 2, 512, 33, DType::q4_k, DType::q8_act}));
    for (std::int64_t tokens : {1, 64}) {
      cases.push_back(form({tokens, 16, 2, 512, 256, DType::q8_0, DType::q8_act}));
      cases.back().timed = true;
      cases.back().rules = {.experts = 16, .experts_used = 2};
    }
  }
  return cases;
}

}  // namespace ridge::op
