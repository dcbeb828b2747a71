#include "engine/sampling_params.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/error.h"
#include "engine/token_counts.h"

namespace ridge::engine {
namespace {

std::string refusal(const std::function<void(SamplingParams&)>& change) {
  SamplingParams p;
  change(p);
  try {
    checked(p, 100);
  } catch (const Error& e) {
    EXPECT_EQ(e.fault(), Fault::input);
    return e.what();
  }
  return "";
}

TEST(SamplingParams, DefaultsAndBordersAreAccepted) {
  EXPECT_EQ(refusal([](SamplingParams&) {}), "");
  EXPECT_EQ(refusal([](SamplingParams& p) {
              p.temperature = 2, p.top_k = 1000, p.top_p = 1e-6f, p.min_p = 1, p.repetition_penalty = 0.5f,
              p.frequency_penalty = -2, p.presence_penalty = 2, p.logit_bias = {{99, -INFINITY}, {0, -100}},
              p.stop = {"\n"}, p.stop_ids = {99}, p.max_tokens = 1;
            }),
            "");
}

TEST(SamplingParams, RefusalsNameTheFieldAndWhatIsAccepted) {
  EXPECT_EQ(refusal([](SamplingParams& p) { p.temperature = -1; }),
            "temperature is -1; accepted: 0 (greedy) or a positive number");
  EXPECT_NE(refusal([](SamplingParams& p) { p.temperature = NAN; }), "");
  EXPECT_NE(refusal([](SamplingParams& p) { p.temperature = INFINITY; }), "");
  EXPECT_NE(refusal([](SamplingParams& p) { p.top_k = -1; }), "");
  EXPECT_EQ(refusal([](SamplingParams& p) { p.top_p = 0; }), "top_p is 0; accepted: above 0, at most 1");
  EXPECT_NE(refusal([](SamplingParams& p) { p.top_p = NAN; }), "");
  EXPECT_NE(refusal([](SamplingParams& p) { p.min_p = 1.5f; }), "");
  EXPECT_NE(refusal([](SamplingParams& p) { p.repetition_penalty = 0; }), "");
  EXPECT_NE(refusal([](SamplingParams& p) { p.frequency_penalty = 2.5f; }), "");
  EXPECT_NE(refusal([](SamplingParams& p) { p.presence_penalty = NAN; }), "");
  EXPECT_EQ(refusal([](SamplingParams& p) { p.max_tokens = 0; }), "max_tokens is 0; accepted: at least 1");
  EXPECT_NE(refusal([](SamplingParams& p) { p.stop = {""}; }), "");
  EXPECT_NE(refusal([](SamplingParams& p) { p.stop.assign(65, "x"); }), "");
  EXPECT_NE(refusal([](SamplingParams& p) { p.stop_ids = {-1}; }), "");
  EXPECT_EQ(refusal([](SamplingParams& p) {
              p.logit_bias = {{100, 1}};
            }),
            "logit_bias names token 100; accepted: 0 to 99, the model's vocabulary");
  EXPECT_NE(refusal([](SamplingParams& p) { p.logit_bias = {{1, INFINITY}}; }), "");
  EXPECT_NE(refusal([](SamplingParams& p) { p.logit_bias.assign(1025, {1, 1}); }), "");
}

TEST(SamplingParams, OneTokensBiasesAddUp) {
  SamplingParams p;
  p.logit_bias = {{7, 1}, {3, 2}, {7, 0.5f}};
  p.stop_ids = {5, 2, 5};
  p = checked(p, 100);
  ASSERT_EQ(p.logit_bias.size(), 2u);
  EXPECT_EQ(p.logit_bias[0].token, 3);
  EXPECT_EQ(p.logit_bias[1].bias, 1.5f);
  EXPECT_EQ(p.stop_ids, (std::vector<std::int32_t>{2, 5}));
}

TEST(TokenCounts, WithoutPenaltiesOnlyBiasesMatter) {
  TokenCounts none({}, std::vector<std::int32_t>{1, 2, 3}, 10);
  none.generated(4);
  EXPECT_TRUE(none.adjusts().empty());
  TokenCounts bias({.logit_bias = {{5, -1}}}, std::vector<std::int32_t>{1, 2, 3}, 10);
  bias.generated(5);
  ASSERT_EQ(bias.adjusts().size(), 1u);
  EXPECT_EQ(bias.adjusts()[0].token, 5);
  EXPECT_EQ(bias.adjusts()[0].bias, -1);
  EXPECT_EQ(bias.adjusts()[0].generated, 0);
}

TEST(TokenCounts, EachTokenOnceWithWhatHappenedToIt) {
  TokenCounts c({.presence_penalty = 1, .logit_bias = {{9, 2}}}, std::vector<std::int32_t>{4, 7, 4}, 10);
  for (std::int32_t t : {7, 8, 7, 9}) c.generated(t);
  ASSERT_EQ(c.adjusts().size(), 4u);
  const op::SampleAdjust want[] = {{9, 1, 1, 2}, {4, 0, 1, 0}, {7, 2, 1, 0}, {8, 1, 1, 0}};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(c.adjusts()[i].token, want[i].token);
    EXPECT_EQ(c.adjusts()[i].generated, want[i].generated);
    EXPECT_EQ(c.adjusts()[i].seen, want[i].seen);
    EXPECT_EQ(c.adjusts()[i].bias, want[i].bias);
  }
}

TEST(TokenCounts, ManyTokensNeverMoveTheList) {
  constexpr int n = 5000;
  TokenCounts c({.repetition_penalty = 2}, {}, n);
  c.generated(0);
  const op::SampleAdjust* start = c.adjusts().data();
  for (int i = 1; i < 3 * n; ++i) c.generated(i % n * 64);  // multiples of a power of two: hard on a poor hash
  EXPECT_EQ(c.adjusts().size(), std::size_t(n));
  EXPECT_EQ(c.adjusts().data(), start);
  for (const op::SampleAdjust& a : c.adjusts()) EXPECT_EQ(a.generated, 3) << a.token;
}

}  // namespace
}  // namespace ridge::engine
