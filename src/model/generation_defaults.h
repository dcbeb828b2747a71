// What a model's files say about generating with it: which tokens end a text, and how its makers sample.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "io/model_files.h"

namespace ridge::model {

struct GenerationDefaults {
  std::vector<std::int32_t> end_ids;  // besides the tokenizer's own; sorted, each once
  // Empty: the files do not say. Temperature 0 is greedy: generation_config.json without do_sample.
  std::optional<float> temperature, top_p, min_p, repetition_penalty;
  std::optional<std::int32_t> top_k;
};

// From generation_config.json, and config.json where that has no eos_token_id; of GGUF, the keys general.sampling.*.
// Fails (input), naming file and key, on values of the wrong type or out of range.
GenerationDefaults generation_defaults(const io::ModelFiles& files);

}  // namespace ridge::model
