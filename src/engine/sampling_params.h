// What a user asks of generation: how a token is chosen and when to stop. Defaults: greedy, until the model ends.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace ridge::engine {

inline constexpr std::size_t most_logit_biases = 1024;
inline constexpr std::size_t most_stop_strings = 64;
inline constexpr std::size_t most_stop_bytes = 4096;  // of one stop string

struct LogitBias {
  std::int32_t token = 0;
  float bias = 0;  // added to the token's logit; -infinity forbids it
};

// Applied in this order: biases and penalties, then temperature, top-k, top-p, min-p (op/sampling/sampling.h).
struct SamplingParams {
  float temperature = 0;         // 0: the most probable token; otherwise positive
  std::int32_t top_k = 0;        // among the k most probable tokens; 0: all
  float top_p = 1;               // among the fewest that reach this probability, in (0, 1]
  float min_p = 0;               // among those at least this times as probable as the most probable, in [0, 1]
  float repetition_penalty = 1;  // of tokens in prompt or text; 1: none; positive
  float frequency_penalty = 0;   // for each time that a token was generated, in [-2, 2]
  float presence_penalty = 0;    // once it was generated, in [-2, 2]
  std::vector<LogitBias> logit_bias;
  std::uint64_t seed = 0;  // same seed, same text

  std::vector<std::string> stop;           // strings that end the text; they are not part of it
  std::vector<std::int32_t> stop_ids;      // tokens that end it, besides the model's end tokens
  bool ignore_eos = false;                 // the model's end tokens do not end it
  std::optional<std::int64_t> max_tokens;  // to generate; none: until the context is full
};

// Refuses what has no meaning (Fault::input, naming the field, its value and what is accepted). `vocabulary`: ids in
// logit_bias and stop_ids are below it. Returns the parameters with equal stop ids and biases of one token merged.
SamplingParams checked(SamplingParams params, std::int64_t vocabulary);

}  // namespace ridge::engine
