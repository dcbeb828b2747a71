// The inverse frequencies that a model's rotary embedding uses, its scaling applied.
#pragma once
#include <span>
#include <vector>

#include "model/config.h"

namespace ridge::model {

struct RopeFrequencies {
  std::vector<float> values;  // dims / 2, radians per position
  float scale = 1;            // of cosine and sine: the attention factor
};

// `divisors` (dims / 2, or empty) are the factors that a file brings along (GGUF's rope_freqs): they stand for the
// scaling that made them. `context` is the longest that will be run: longrope chooses its factors by it.
RopeFrequencies rope_frequencies(const Rope& rope, std::int64_t context, std::span<const float> divisors = {});

// What cosine and sine are multiplied with: as the file says, or by formula.
double yarn_attention_factor(const RopeScaling& s);
double yarn_usual_factor(const RopeScaling& s);  // by formula, without mscale
double longrope_attention_factor(const RopeScaling& s);

// The same scaling as divisors of the unscaled frequencies (GGUF's rope_freqs).
std::vector<float> llama3_divisors(const Rope& rope);

}  // namespace ridge::model
