// The engine on a GPU: ten thousand steps in which sequences come, go and are cancelled, every one of which must end
// with the tokens that it gets alone on the CPU. Graphs are replayed with rows that belong to nobody all the while.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "cuda/device.h"
#include "engine/small_models_test.h"

namespace ridge::engine {
namespace {

constexpr std::int64_t generated = 24;

std::vector<std::int32_t> prompt_number(int n) {
  std::mt19937 random{unsigned(n)};
  std::vector<std::int32_t> ids(1 + random() % 40);
  for (std::int32_t& id : ids) id = std::int32_t(random() % 90);
  return ids;
}

SamplingParams sampling_number(int n) {  // every third one draws
  SamplingParams s{.seed = std::uint64_t(n), .ignore_eos = true, .max_tokens = generated};
  if (n % 3 == 2) s.temperature = 0.9f, s.top_k = 20, s.top_p = 0.95f;
  return s;
}

std::vector<std::int32_t> alone(int n) {
  Machine m(model::open(golden("gguf/llama3.f32.gguf")),
            {.context = 96, .sequences = 1, .batch_tokens = 32, .block_tokens = 8}, {.kv_dtype = DType::f32});
  m.engine.add({prompt_number(n), sampling_number(n)});
  std::vector<std::int32_t> tokens;
  while (m.engine.live() > 0)
    for (const Event& e : m.engine.step()) tokens.push_back(e.token);
  return tokens;
}

TEST(EngineOnGpu, TenThousandStepsLeaveNoWrongRow) {
  if (cuda::devices().list.empty()) GTEST_SKIP() << cuda::devices().none;
  constexpr int kinds = 24;
  std::vector<std::vector<std::int32_t>> want;
  for (int n = 0; n < kinds; ++n) want.push_back(alone(n));
  Machine m(model::open(golden("gguf/llama3.f32.gguf")),
            {.context = 96, .sequences = 13, .batch_tokens = 32, .block_tokens = 8},
            {.device = ir::Device::cuda, .kv_dtype = DType::f32});
  std::mt19937 random(7);
  struct Live {
    int kind;
    std::vector<std::int32_t> tokens;
  };
  std::map<SequenceId, Live> live;
  int finished = 0;
  for (int step = 0; step < 10000; ++step) {
    while (live.size() < 13 && random() % 3 == 0) {
      const int n = int(random() % kinds);
      live[m.engine.add({prompt_number(n), sampling_number(n)})] = {n, {}};
    }
    if (!live.empty() && random() % 50 == 0) {
      m.engine.cancel(live.begin()->first);
      live.erase(live.begin());
    }
    for (const Event& e : m.engine.step()) {
      Live& l = live.at(e.id);
      l.tokens.push_back(e.token);
      if (e.finish == FinishReason::none) continue;
      ASSERT_EQ(l.tokens, want[std::size_t(l.kind)]) << "prompt " << l.kind << ", step " << step;
      live.erase(e.id);
      ++finished;
    }
  }
  EXPECT_GT(finished, 1000);
}

}  // namespace
}  // namespace ridge::engine
