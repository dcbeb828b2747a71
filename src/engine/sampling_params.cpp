#include "engine/sampling_params.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace ridge::engine {
namespace {

void expect(bool good, std::string_view field, double value, std::string_view accepted) {
  if (!good) fail_input("{} is {}; accepted: {}", field, value, accepted);
}

void expect_token(std::int32_t token, std::string_view field, std::int64_t vocabulary) {
  if (token < 0 || token >= vocabulary)
    fail_input("{} names token {}; accepted: 0 to {}, the model's vocabulary", field, token, vocabulary - 1);
}

void check_numbers(const SamplingParams& p) {
  expect(std::isfinite(p.temperature) && p.temperature >= 0, "temperature", p.temperature,
         "0 (greedy) or a positive number");
  expect(p.top_k >= 0, "top_k", p.top_k, "0 (all tokens) or a positive number");
  expect(p.top_p > 0 && p.top_p <= 1, "top_p", p.top_p, "above 0, at most 1");
  expect(p.min_p >= 0 && p.min_p <= 1, "min_p", p.min_p, "0 to 1");
  expect(std::isfinite(p.repetition_penalty) && p.repetition_penalty > 0, "repetition_penalty", p.repetition_penalty,
         "a positive number; 1 is none");
  expect(std::abs(p.frequency_penalty) <= 2, "frequency_penalty", p.frequency_penalty, "-2 to 2");
  expect(std::abs(p.presence_penalty) <= 2, "presence_penalty", p.presence_penalty, "-2 to 2");
  if (p.max_tokens && *p.max_tokens < 1) fail_input("max_tokens is {}; accepted: at least 1", *p.max_tokens);
}

void check_stops(const SamplingParams& p, std::int64_t vocabulary) {
  if (p.stop.size() > most_stop_strings)
    fail_input("stop has {} strings; accepted: at most {}", p.stop.size(), most_stop_strings);
  for (const std::string& s : p.stop)
    if (s.empty() || s.size() > most_stop_bytes)
      fail_input("a stop string has {} bytes; accepted: 1 to {}", s.size(), most_stop_bytes);
  for (std::int32_t id : p.stop_ids) expect_token(id, "stop_ids", vocabulary);
}

void check_biases(const SamplingParams& p, std::int64_t vocabulary) {
  if (p.logit_bias.size() > most_logit_biases)
    fail_input("logit_bias has {} entries; accepted: at most {}", p.logit_bias.size(), most_logit_biases);
  for (const LogitBias& b : p.logit_bias) {
    expect_token(b.token, "logit_bias", vocabulary);
    if (std::isnan(b.bias) || b.bias == std::numeric_limits<float>::infinity())
      fail_input("logit_bias of token {} is {}; accepted: a number, or -infinity to forbid the token", b.token, b.bias);
  }
}

// Each token at most once, as the op wants it; what was said of one token twice adds up.
void merge_biases(std::vector<LogitBias>& biases) {
  std::stable_sort(biases.begin(), biases.end(),
                   [](const LogitBias& a, const LogitBias& b) { return a.token < b.token; });
  std::vector<LogitBias> merged;
  for (const LogitBias& b : biases)
    if (!merged.empty() && merged.back().token == b.token) merged.back().bias += b.bias;
    else merged.push_back(b);
  biases = std::move(merged);
}

}  // namespace

SamplingParams checked(SamplingParams params, std::int64_t vocabulary) {
  check_numbers(params);
  check_stops(params, vocabulary);
  check_biases(params, vocabulary);
  merge_biases(params.logit_bias);
  std::sort(params.stop_ids.begin(), params.stop_ids.end());
  params.stop_ids.erase(std::unique(params.stop_ids.begin(), params.stop_ids.end()), params.stop_ids.end());
  return params;
}

}  // namespace ridge::engine
