#include "engine/engine.h"

#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "engine/small_models_test.h"
#include "io/safetensors.h"

namespace ridge::engine {
namespace {

constexpr Capacity small{.context = 32, .sequences = 4, .batch_tokens = 16, .block_tokens = 4};

std::string refusal(Engine& engine, Request request) {
  try {
    engine.add(std::move(request));
  } catch (const Error& e) {
    EXPECT_EQ(e.fault(), Fault::input);
    return e.what();
  }
  return "";
}

// Token t is followed by t + 1, the last by 0.
InMemory counting(std::int32_t size) {
  std::vector<std::int32_t> next;
  for (std::int32_t t = 0; t < size; ++t) next.push_back((t + 1) % size);
  return bigram_model(followed_by(next));
}

TEST(Engine, GoesOnUntilAnEndTokenAStopIdOrItsLength) {
  Machine m(counting(16), small, {}, 1, {9, 12});
  const std::vector<Outcome> o = run_all(m.engine, {{{5}},
                                                    {{5}, {.stop_ids = {7, 8}}},
                                                    {{5}, {.max_tokens = 2}},
                                                    {{5}, {.ignore_eos = true, .max_tokens = 6}},
                                                    {{10}, {.stop_ids = {12}, .ignore_eos = true}},
                                                    {{10, 3, 11}}});
  EXPECT_EQ(o[0], (Outcome{{6, 7, 8, 9}, FinishReason::stop}));
  EXPECT_EQ(o[1], (Outcome{{6, 7}, FinishReason::stop}));
  EXPECT_EQ(o[2], (Outcome{{6, 7}, FinishReason::length}));
  EXPECT_EQ(o[3], (Outcome{{6, 7, 8, 9, 10, 11}, FinishReason::length}));
  EXPECT_EQ(o[4], (Outcome{{11, 12}, FinishReason::stop}));
  EXPECT_EQ(o[5], (Outcome{{12}, FinishReason::stop}));
}

TEST(Engine, TheContextEndsGenerationWithLength) {
  Machine m(counting(16), small);
  const std::vector<Outcome> o = run_all(m.engine, {{{5}}, {std::vector<std::int32_t>(31, 1)}});
  EXPECT_EQ(o[0].tokens.size(), 31u);
  EXPECT_EQ(o[0].finish, FinishReason::length);
  EXPECT_EQ(o[1], (Outcome{{2}, FinishReason::length}));
}

TEST(Engine, RefusalsSayWhatIsAcceptedAndHarmNobody) {
  Machine m(counting(16), small);
  m.engine.add({{3}, {.max_tokens = 3}});
  EXPECT_EQ(refusal(m.engine, {{}}), "the prompt has no tokens; accepted: at least 1");
  EXPECT_EQ(refusal(m.engine, {{1, 16}}), "token 1 of the prompt is 16; accepted: 0 to 15, the model's vocabulary");
  EXPECT_NE(refusal(m.engine, {{-1}}), "");
  EXPECT_NE(refusal(m.engine, {{1}, {.top_p = 2}}), "");
  const std::string longer = refusal(m.engine, {std::vector<std::int32_t>(32, 1)});
  EXPECT_NE(longer.find("32 tokens and the context holds 32"), std::string::npos) << longer;
  EXPECT_EQ(m.engine.live(), 1u);
  std::vector<std::int32_t> tokens;
  while (m.engine.live() > 0)
    for (const Event& e : m.engine.step()) tokens.push_back(e.token);
  EXPECT_EQ(tokens, (std::vector<std::int32_t>{4, 5, 6}));
}

TEST(Engine, CancelledSequencesAreGoneAndOthersGoOn) {
  Machine m(counting(16), small);
  const SequenceId a = m.engine.add({{3}, {.max_tokens = 5}}), b = m.engine.add({{8}, {.max_tokens = 3}});
  EXPECT_EQ(m.engine.step().size(), 2u);
  EXPECT_TRUE(m.engine.cancel(a));
  EXPECT_FALSE(m.engine.cancel(a));
  EXPECT_FALSE(m.engine.cancel(77));
  std::vector<std::int32_t> tokens;
  while (m.engine.live() > 0)
    for (const Event& e : m.engine.step()) {
      EXPECT_EQ(e.id, b);
      tokens.push_back(e.token);
    }
  EXPECT_EQ(tokens, (std::vector<std::int32_t>{10, 11}));
  EXPECT_EQ(m.engine.pool().free_blocks(), m.engine.pool().blocks());
  EXPECT_TRUE(m.engine.step().empty());
}

TEST(Engine, LogitsThatAreNotNumbersEndOneSequenceAndNameTheCall) {
  for (float bad : {NAN, INFINITY}) {
    InMemory model = counting(8);
    model.spoil(5, bad);
    Machine m(model, small);
    const std::vector<Outcome> o =
        run_all(m.engine, {{{0}, {.max_tokens = 4}}, {{3}, {.max_tokens = 4}}, {{6}, {.max_tokens = 4}}});
    EXPECT_EQ(o[0], (Outcome{{1, 2, 3, 4}, FinishReason::length}));
    EXPECT_EQ(o[1].tokens, (std::vector<std::int32_t>{4, 5}));
    EXPECT_EQ(o[1].finish, FinishReason::error);
    EXPECT_EQ(o[1].error, "no token at position 3: call 1 embedding is the first to yield a value that is not finite");
    EXPECT_EQ(o[2], (Outcome{{7, 0, 1, 2}, FinishReason::length}));
  }
}

TEST(Engine, ASequenceWhoseTokensAreAllForbiddenHarmsNobody) {
  Machine m(counting(4), small);
  SamplingParams none{.max_tokens = 3};
  for (std::int32_t t = 0; t < 4; ++t) none.logit_bias.push_back({t, -INFINITY});
  const std::vector<Outcome> o = run_all(m.engine, {{{0}, {.max_tokens = 3}}, {{1}, none}, {{2}, {.max_tokens = 3}}});
  EXPECT_EQ(o[0], (Outcome{{1, 2, 3}, FinishReason::length}));
  EXPECT_EQ(o[1].finish, FinishReason::error);
  EXPECT_NE(o[1].error.find("sampling"), std::string::npos) << o[1].error;
  EXPECT_EQ(o[2], (Outcome{{3, 0, 1}, FinishReason::length}));
}

// After any token: token 0 has logit 4, 1 has 3, 2 has 2.4, 3 has -1. Each penalty moves them as computed by hand.
TEST(Engine, PenaltiesAndBiasesByHand) {
  Machine m(bigram_model(std::vector<std::vector<float>>(4, {4, 3, 2.4f, -1})), small);
  const auto tokens = [&](std::vector<std::int32_t> prompt, SamplingParams p, std::int64_t count) {
    p.max_tokens = count;
    return run_all(m.engine, {{prompt, p}})[0].tokens;
  };
  using Tokens = std::vector<std::int32_t>;
  EXPECT_EQ(tokens({3}, {}, 3), (Tokens{0, 0, 0}));
  // Token 0 falls by 0.75 each time: 4, 3.25, 2.5 < 3; then 1 falls to 2.25 and 2.5 wins, then 1.75 < 2.25 < 2.4.
  EXPECT_EQ(tokens({3}, {.frequency_penalty = 0.75f}, 5), (Tokens{0, 0, 1, 0, 2}));
  // Once: 4 - 1.5 = 2.5, then 1: 3 - 1.5 = 1.5, then 0 at 2.5 beats 2.4 for good.
  EXPECT_EQ(tokens({3}, {.presence_penalty = 1.5f}, 4), (Tokens{0, 1, 0, 0}));
  // The prompt counts as seen, but as generated it does not: 0: 4 / 1.5 = 2.67 < 3; then 1: 3 / 1.5 = 2 < 2.67 forever.
  EXPECT_EQ(tokens({0}, {.repetition_penalty = 1.5f}, 3), (Tokens{1, 0, 0}));
  EXPECT_EQ(tokens({0}, {.presence_penalty = 1.5f}, 1), (Tokens{0}));
  EXPECT_EQ(tokens({3}, {.logit_bias = {{0, -INFINITY}, {3, 4.5f}}}, 2), (Tokens{3, 3}));
  EXPECT_EQ(tokens({3}, {.logit_bias = {{2, 1.7f}}}, 2), (Tokens{2, 2}));
}

TEST(Engine, SeedsDecideAndFrequenciesFollowTheProbabilities) {
  Machine m(bigram_model(std::vector<std::vector<float>>(
                4, {std::log(0.5f), std::log(0.25f), std::log(0.125f), std::log(0.125f)})),
            {.context = 512, .sequences = 8, .batch_tokens = 64, .block_tokens = 16});
  std::vector<Request> requests;
  for (std::uint64_t seed = 0; seed < 40; ++seed)
    requests.push_back({{0}, {.temperature = 1, .seed = seed, .max_tokens = 400}});
  const std::vector<Outcome> first = run_all(m.engine, requests);
  EXPECT_EQ(run_all(m.engine, requests), first);
  EXPECT_NE(first[0], first[1]);
  std::vector<double> share(4, 0);
  for (const Outcome& o : first)
    for (std::int32_t t : o.tokens) share[std::size_t(t)] += 1.0 / (40 * 400);
  EXPECT_NEAR(share[0], 0.5, 0.015);  // 4 standard deviations of 16000 draws
  EXPECT_NEAR(share[1], 0.25, 0.013);
  EXPECT_NEAR(share[2], 0.125, 0.011);
  EXPECT_NEAR(share[3], 0.125, 0.011);
}

TEST(Engine, ReportsWhatEachStepRan) {
  Machine m(counting(16), {.context = 32, .sequences = 2, .batch_tokens = 6, .block_tokens = 4});
  m.engine.add({{1, 2, 3, 4, 5, 6, 7, 8, 9}, {.max_tokens = 2}});
  m.engine.step();
  EXPECT_EQ(m.engine.last_step().prompt_tokens, 6);
  EXPECT_EQ(m.engine.last_step().rows, 0);
  m.engine.step();
  EXPECT_EQ(m.engine.last_step().prompt_tokens, 3);
  EXPECT_EQ(m.engine.last_step().rows, 1);
  ASSERT_EQ(m.engine.last_step().spans.size(), 1u);
  EXPECT_EQ(m.engine.last_step().spans[0].past, 6);
  m.engine.step();
  EXPECT_EQ(m.engine.last_step().prompt_tokens, 0);
  EXPECT_EQ(m.engine.last_step().generation_tokens, 1);
}

TEST(Engine, AModelLoadedForLessIsRefused) {
  ThreadPool pool(1);
  Capacity c = small;
  const InMemory memory = counting(16);
  model::Loaded model(memory.description, for_generation({}, c, 16), pool);
  c.context = 64;
  EXPECT_THROW(Runner(model, c), Error);
  c.context = 1;
  EXPECT_THROW(checked(c), Error);
  EXPECT_THROW(checked({.sequences = 8, .batch_tokens = 7}), Error);
  EXPECT_THROW(checked({.context = 100, .cache_tokens = 99}), Error);
}

// Forty greedy tokens that the reference implementation computed in float64.
class GreedyReference : public testing::TestWithParam<const char*> {};

std::vector<std::int32_t> golden_ints(const io::SafetensorsPart& part, const std::string& name) {
  for (const io::SafetensorsTensor& t : part.header.tensors)
    if (t.name == name) {
      std::vector<std::int32_t> v(t.bytes / 4);
      std::memcpy(v.data(), part.file.bytes().data() + t.offset, t.bytes);
      return v;
    }
  ADD_FAILURE() << "no tensor " << name;
  return {};
}

TEST_P(GreedyReference, IsReproduced) {
  const auto parts = io::open_safetensors(golden(std::string("models/") + GetParam() + "/golden.safetensors"));
  const std::vector<std::int32_t> prompt = golden_ints(parts[0], "ids_17"), want = golden_ints(parts[0], "greedy_17");
  ASSERT_EQ(prompt.size(), 17u);
  for (ir::Device device : {ir::Device::ref, ir::Device::cpu}) {
    Machine m(model::open(golden(std::string("gguf/") + GetParam() + ".f32.gguf")), {.context = 64, .batch_tokens = 8},
              {.device = device, .activations = ir::Activations::f32});
    const std::vector<Outcome> o = run_all(m.engine, {{prompt, {.max_tokens = std::int64_t(want.size())}}});
    EXPECT_EQ(o[0].tokens, want);
  }
}
INSTANTIATE_TEST_SUITE_P(Engine, GreedyReference, testing::Values("llama3", "smollm2", "llama_linear_rope"));

}  // namespace
}  // namespace ridge::engine
