#include "program/memory_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "op/add/add.h"
#include "op/rms_norm/rms_norm.h"

namespace ridge::program {
namespace {

// Where each call's outputs are while a later reader still wants them: no other value may be written there.
void expect_no_live_value_overwritten(const ir::Program& p, const Sizes& sizes, const MemoryPlan& plan) {
  auto range = [&](ir::Value v) {
    const std::int64_t begin = plan.offset[std::size_t(v.id)];
    return std::pair(begin, begin + value_bytes(p[v], sizes));
  };
  for (std::size_t made = 0; made < p.calls().size(); ++made)
    for (ir::Value v : p.calls()[made].out) {
      std::size_t last = p[v].kind == ir::Kind::output ? p.calls().size() : made;
      for (std::size_t i = 0; i < p.calls().size(); ++i)
        if (std::ranges::find(p.calls()[i].in, v) != p.calls()[i].in.end()) last = std::max(last, i);
      for (std::size_t i = made + 1; i < std::min(last + 1, p.calls().size()); ++i)
        for (ir::Value w : p.calls()[i].out) {
          const bool in_place =
              i == last && p.calls()[i].op->in_place && p.calls()[i].in[0] == v && p.calls()[i].out[0] == w;
          const auto [a, b] = range(v);
          const auto [c, d] = range(w);
          EXPECT_TRUE(in_place || b <= c || d <= a) << p[v].name << " and " << p[w].name;
        }
    }
}

ir::Program chain(int length) {  // x, then length times x = x + norm(x)
  ir::Program p;
  ir::Value x = p.input("x", DType::f32, {Symbol::tokens, 100});
  const ir::Value w = p.weight("w", DType::f32, {100});
  for (int i = 0; i < length; ++i) x = op::add(p, x, op::rms_norm(p, x, w, {}));
  p.mark_output(x, "y");
  return p;
}

}  // namespace

TEST(memory_plan, values_that_live_together_lie_apart) {
  const Sizes sizes{.tokens = 7};
  for (Reuse reuse : {Reuse::in_place, Reuse::none}) {
    const ir::Program p = chain(6);
    expect_no_live_value_overwritten(p, sizes, plan_memory(p, sizes, 0, reuse));
  }
}

TEST(memory_plan, a_chain_needs_the_room_of_what_lives_at_once) {
  const ir::Program p = chain(6);
  const std::int64_t one = 7 * 100 * 4 / 64 * 64 + 64;  // a value, to whole cache lines
  const MemoryPlan in_place = plan_memory(p, {.tokens = 7}, 0), apart = plan_memory(p, {.tokens = 7}, 0, Reuse::none);
  EXPECT_EQ(in_place.arena_bytes, 2 * one);  // x, written in place, and its norm
  EXPECT_EQ(apart.arena_bytes, 3 * one);     // the old x, its norm, the new x
  EXPECT_EQ(in_place.input_bytes, one);
  EXPECT_EQ(in_place.state_bytes, 0);
}

}  // namespace ridge::program
