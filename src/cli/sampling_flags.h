#pragma once
#include <string>
#include <vector>

#include "engine/sampling_params.h"

namespace CLI {
class App;
}

namespace ridge::cli {

struct SamplingFlags {  // how tokens are chosen and when to stop; ranges are checked by the engine
  engine::SamplingParams params;
  std::vector<std::string> logit_bias;  // "ID=BIAS"
  std::int64_t max_tokens = 0;
  void add_to(CLI::App& app);
  engine::SamplingParams resolved() const;
};

}  // namespace ridge::cli
