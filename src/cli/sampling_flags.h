#pragma once
#include <optional>
#include <string>
#include <vector>

#include "engine/sampling_params.h"
#include "model/generation_defaults.h"

namespace CLI {
class App;
}

namespace ridge::cli {

struct SamplingFlags {  // how tokens are chosen and when to stop; ranges are checked by the engine
  engine::SamplingParams params;
  std::optional<float> temperature, top_p, min_p, repetition_penalty;  // empty: not given, the model's own or none
  std::optional<std::int32_t> top_k;
  std::vector<std::string> logit_bias;  // "ID=BIAS"
  std::int64_t max_tokens = 0;
  void add_to(CLI::App& app);
  engine::SamplingParams resolved(const model::GenerationDefaults& defaults) const;
};

}  // namespace ridge::cli
