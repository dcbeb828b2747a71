// Models for the engine's tests: the tiny ones of tests/goldens, and one whose logits a test writes down.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "engine/engine.h"

namespace ridge::engine {

inline std::string golden(const std::string& name) { return std::string(RIDGE_SOURCE_DIR) + "/tests/goldens/" + name; }

struct InMemory {  // a model without files
  model::Description description;
  std::vector<std::shared_ptr<std::vector<float>>> memory;  // what its tensors point into; the embedding first

  void spoil(std::int32_t token, float value) {  // its embedding holds this, so whoever reads it has no logits
    (*memory[0])[std::size_t(token) * std::size_t(description.config.hidden)] = value;
  }
};

// An engine with all that it stands on.
struct Machine {
  Machine(const InMemory& m, Capacity capacity, model::LoadOptions options = {}, int threads = 2,
          std::vector<std::int32_t> end_tokens = {})
      : Machine(m.description, capacity, std::move(options), threads, std::move(end_tokens)) {
    memory = m.memory;
  }
  Machine(model::Description description, Capacity capacity, model::LoadOptions options = {}, int threads = 2,
          std::vector<std::int32_t> end_tokens = {})
      : pool(threads),
        model(load(std::move(description), capacity, options, pool)),
        runner(model, capacity),
        engine(runner, end_tokens) {}

  static model::Loaded load(model::Description description, const Capacity& capacity, const model::LoadOptions& options,
                            ThreadPool& pool) {
    const model::LoadOptions all = for_generation(options, checked(capacity), description.config.vocab);
    return model::Loaded(std::move(description), all, pool);
  }

  ThreadPool pool;
  model::Loaded model;
  Runner runner;
  Engine engine;
  std::vector<std::shared_ptr<std::vector<float>>> memory;
};

// A Llama of no layers over `size` tokens whose next token depends on the last one alone: the logits after token t are
// logits[t] (up to rounding). The embedding of t is a unit vector, which the norm scales to sqrt(size).
inline InMemory bigram_model(const std::vector<std::vector<float>>& logits) {
  const std::size_t n = logits.size();
  InMemory m;
  model::Description& d = m.description;
  d.config = {.architecture = "llama",
              .name = "bigram",
              .layers = 0,
              .hidden = std::int64_t(n),
              .ffn = 32,
              .vocab = std::int64_t(n),
              .heads = 1,
              .kv_heads = 1,
              .head_dim = 2,
              .context = 4096,
              .norm_eps = 0,
              .rope = {.dims = 2},
              .attention_scale = 1};
  std::vector<float> unit(n * n, 0.0f), head(n * n), ones(n, 1.0f);
  for (std::size_t t = 0; t < n; ++t) unit[t * n + t] = 1;
  for (std::size_t t = 0; t < n; ++t)
    for (std::size_t j = 0; j < n; ++j) head[j * n + t] = logits[t][j] / std::sqrt(float(n));
  const auto add = [&](const std::string& name, std::vector<float> values, std::vector<std::int64_t> shape) {
    const auto bytes =
        std::as_bytes(std::span(*m.memory.emplace_back(std::make_shared<std::vector<float>>(std::move(values)))));
    d.tensors[name] = {DType::f32, std::move(shape), bytes, "the test's " + name};
  };
  add("token_embd", unit, {std::int64_t(n), std::int64_t(n)});
  add("output", head, {std::int64_t(n), std::int64_t(n)});
  add("output_norm", ones, {std::int64_t(n)});
  return m;
}

// Logits of a bigram model in which token t is followed by next[t].
inline std::vector<std::vector<float>> followed_by(const std::vector<std::int32_t>& next) {
  std::vector<std::vector<float>> logits(next.size(), std::vector<float>(next.size(), 0.0f));
  for (std::size_t t = 0; t < next.size(); ++t) logits[t][std::size_t(next[t])] = 8;
  return logits;
}

struct Outcome {
  std::vector<std::int32_t> tokens;
  FinishReason finish = FinishReason::none;
  std::string error;
  bool operator==(const Outcome&) const = default;
};

// Runs all requests to their ends, request i joining after step arrives[i] (at once where there is none).
inline std::vector<Outcome> run_all(Engine& engine, const std::vector<Request>& requests,
                                    std::vector<int> arrives = {}) {
  arrives.resize(requests.size(), 0);
  std::vector<Outcome> outcomes(requests.size());
  std::vector<SequenceId> ids(requests.size(), 0);
  std::size_t added = 0;
  for (int step = 0; added < requests.size() || engine.live() > 0; ++step) {
    for (std::size_t i = 0; i < requests.size(); ++i)
      if (ids[i] == 0 && arrives[i] <= step) ids[i] = engine.add(requests[i]), ++added;
    for (const Event& e : engine.step()) {
      Outcome& o = outcomes[std::size_t(std::ranges::find(ids, e.id) - ids.begin())];
      EXPECT_EQ(o.finish, FinishReason::none) << "an event of a sequence that is gone";
      if (e.token >= 0) o.tokens.push_back(e.token);
      o.finish = e.finish, o.error = e.error;
    }
  }
  EXPECT_EQ(engine.pool().free_blocks(), engine.pool().blocks());
  return outcomes;
}

}  // namespace ridge::engine
