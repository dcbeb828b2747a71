#include "op/case.h"
#include "op/rope/rope.h"
#include "op/rope_store/rope_store.h"

namespace ridge::op {
namespace {

struct Form {
  RopeStyle style;
  DType state;
  std::int64_t heads, kv_heads, head_dim, rotary;
  std::vector<std::int32_t> slots;
};

Case form(Form f) {
  return {fmt::format("{} {} tokens, {} and {} heads, {} of {}, {}", f.style == RopeStyle::halves ? "halves" : "pairs",
                      f.slots.size(), f.heads, f.kv_heads, f.rotary, f.head_dim, name(f.state)),
          {.tokens = std::int64_t(f.slots.size())},
          [=](CaseInputs& in) {
            const ir::Value q = in.activation("q", {Symbol::tokens, f.heads * f.head_dim}),
                            k = in.activation("k", {Symbol::tokens, f.kv_heads * f.head_dim}),
                            v = in.activation("v", {Symbol::tokens, f.kv_heads * f.head_dim}),
                            angles = in.activation("angles", {Symbol::tokens, f.rotary}),
                            slots = in.ints("slots", {Symbol::tokens}, f.slots),
                            state = in.state("kv", f.state, {4, 2, f.kv_heads, 16, f.head_dim});
            in.program.record(rope_store_op, {q, k, v, angles, slots, state},
                              RopeParams{.head_dim = int(f.head_dim), .style = f.style});
          },
          f.state == DType::f16 ? 1e-5 : 1e-6};  // a half may round the other way
}

}  // namespace

std::vector<Case> rope_store_cases() {
  std::vector<Case> cases;
  for (RopeStyle style : {RopeStyle::halves, RopeStyle::pairs})
    for (DType state : {DType::f32, DType::f16}) {
      cases.push_back(form({style, state, 4, 2, 64, 64, {5, 63, -1, 16}}));
      cases.push_back(form({style, state, 3, 3, 20, 14, {40}}));
      cases.push_back(form({style, state, 2, 1, 128, 128, {}}));
    }
  return cases;
}

}  // namespace ridge::op
