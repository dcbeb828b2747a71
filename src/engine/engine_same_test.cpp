// The same tokens whatever runs beside, however prompts are cut, however many threads, preempted or not.
#include <gtest/gtest.h>

#include <random>

#include "engine/small_models_test.h"

namespace ridge::engine {
namespace {

struct Scene {
  const char* file;
  ir::Activations activations;
};
void PrintTo(const Scene& s, std::ostream* out) {
  *out << s.file << (s.activations == ir::Activations::f32 ? " f32" : " int8");
}

class SameTokens : public testing::TestWithParam<Scene> {
 protected:
  model::Description open() const { return model::open(golden(std::string("gguf/") + GetParam().file)); }
  model::LoadOptions options() const { return {.activations = GetParam().activations}; }

  // Prompts and parameters of every kind.
  std::vector<Request> requests(std::int64_t vocabulary) const {
    std::mt19937 random(3);
    std::vector<Request> requests;
    for (int i = 0; i < 9; ++i) {
      Request r;
      r.tokens.resize(1 + random() % 40);
      for (std::int32_t& t : r.tokens) t = std::int32_t(random() % std::uint64_t(vocabulary));
      r.sampling = {.seed = std::uint64_t(i), .max_tokens = 4 + random() % 20};
      if (i % 3 != 0) r.sampling.temperature = 0.9f, r.sampling.top_p = 0.95f;
      if (i % 4 == 1) r.sampling.repetition_penalty = 1.2f, r.sampling.presence_penalty = 0.5f;
      if (i % 4 == 2) r.sampling.top_k = 20, r.sampling.frequency_penalty = 0.3f, r.sampling.logit_bias = {{7, 2}};
      requests.push_back(std::move(r));
    }
    return requests;
  }

  // Each request alone, its prompt in one piece.
  std::vector<Outcome> alone() const {
    Machine m(open(), {.context = 64, .sequences = 1, .batch_tokens = 64}, options(), 1);
    std::vector<Outcome> outcomes;
    for (const Request& r : requests(m.runner.vocabulary())) outcomes.push_back(run_all(m.engine, {r})[0]);
    return outcomes;
  }
};

TEST_P(SameTokens, InBatchesChunksAndThreads) {
  const std::vector<Outcome> want = alone();
  const std::vector<int> arrives = {0, 0, 1, 2, 2, 9, 10, 11, 30};
  for (const auto& [sequences, batch_tokens, threads] : {std::tuple{9, 512, 3}, {4, 7, 2}, {2, 2, 1}}) {
    Machine m(open(), {.context = 64, .sequences = sequences, .batch_tokens = batch_tokens}, options(), threads);
    EXPECT_EQ(run_all(m.engine, requests(m.runner.vocabulary()), arrives), want)
        << sequences << ", " << batch_tokens << ", " << threads;
  }
}

TEST_P(SameTokens, PreemptedOrNot) {
  const std::vector<Outcome> want = alone();
  Machine m(open(), {.context = 64, .sequences = 9, .batch_tokens = 128, .cache_tokens = 96, .block_tokens = 4},
            options());
  const std::vector<Request> all = requests(m.runner.vocabulary());
  std::vector<Outcome> outcomes(all.size());
  for (const Request& r : all) m.engine.add(r);
  std::int64_t preempted = 0;
  while (m.engine.live() > 0) {
    for (const Event& e : m.engine.step()) {  // ids count from 1
      outcomes[std::size_t(e.id - 1)].tokens.push_back(e.token);
      outcomes[std::size_t(e.id - 1)].finish = e.finish;
    }
    preempted += m.engine.last_step().preempted;
  }
  EXPECT_EQ(outcomes, want);
  EXPECT_GT(preempted, 0) << "the pool was too roomy for this test to mean much";
}

INSTANTIATE_TEST_SUITE_P(Engine, SameTokens,
                         testing::Values(Scene{"llama3.f32.gguf", ir::Activations::f32},
                                         Scene{"llama_256.q4_0.gguf", ir::Activations::int8},
                                         Scene{"llama_256.q8_0.gguf", ir::Activations::f32}));

}  // namespace
}  // namespace ridge::engine
