#include "op/case.h"
#include "op/rope/rope.h"

namespace ridge::op {
namespace {

Case angles(std::int64_t tokens, std::int64_t half, float frequency, float scale = 1) {
  return {fmt::format("{} positions, {} frequencies of about {}", tokens, half, frequency),
          {.tokens = tokens},
          [=](CaseInputs& in) {
            std::vector<std::int32_t> positions{0, 1, 2, 131071, 1000};
            positions.resize(std::size_t(tokens));
            for (std::int64_t t = 5; t < tokens; ++t) positions[std::size_t(t)] = std::int32_t(t * 977 % 131072);
            rope_angles(in.program, in.ints("positions", {Symbol::tokens}, positions),
                        in.weight("frequencies", DType::f32, {half}, frequency), {.scale = scale});
          },
          1e-7};
}

Case rotated(RopeStyle style, std::int64_t tokens, std::int64_t heads, int head_dim, int rotary) {
  return {fmt::format("{} {}x{} heads, {} of {}", style == RopeStyle::halves ? "halves" : "pairs", tokens, heads,
                      rotary, head_dim),
          {.tokens = tokens},
          [=](CaseInputs& in) {
            rope(in.program, in.activation("x", {Symbol::tokens, heads * head_dim}),
                 in.activation("angles", {Symbol::tokens, rotary}), {.head_dim = head_dim, .style = style});
          }};
}

Case timed(Case c) {
  c.timed = true;
  return c;
}

}  // namespace

std::vector<Case> rope_angles_cases() {
  return {angles(5, 32, 1), angles(5, 1, 1), angles(5, 13, 0.1f), angles(300, 48, 1e-3f, 1.2f),
          timed(angles(512, 32, 0.1f))};
}

std::vector<Case> rope_cases() {
  std::vector<Case> cases;
  for (RopeStyle style : {RopeStyle::halves, RopeStyle::pairs}) {
    for (int rotary : {2, 26, 40, 64}) cases.push_back(rotated(style, 3, 3, 64, rotary));
    cases.push_back(rotated(style, 2, 2, 6, 6));
    cases.push_back(rotated(style, 0, 2, 64, 64));
    cases.push_back(rotated(style, 300, 2, 80, 80));
    cases.push_back(timed(rotated(style, 1, 9, 64, 64)));
    cases.push_back(timed(rotated(style, 512, 9, 64, 64)));
  }
  return cases;
}

}  // namespace ridge::op
