#include "cli/sampling_flags.h"

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "base/error.h"

namespace ridge::cli {

void SamplingFlags::add_to(CLI::App& app) {
  app.add_option("--max-tokens", max_tokens,
                 "most tokens to generate; default: until the model ends or the context is full")
      ->check(CLI::Range(std::int64_t(1), std::int64_t(1) << 40));
  app.add_option("--temperature", temperature,
                 "0: the most probable token each time; default: as the model's files say, else 0");
  app.add_option("--seed", params.seed, "same seed, same text")->capture_default_str();
  app.add_option("--top-k", top_k,
                 "among the k most probable tokens; 0: all; default: as the model's files say, else all");
  app.add_option("--top-p", top_p,
                 "among the fewest tokens that reach this probability; default: as the model's files say, else 1");
  app.add_option(
      "--min-p", min_p,
      "among tokens at least this times as probable as the most probable; default: as the model's files say, else 0");
  app.add_option("--repetition-penalty", repetition_penalty,
                 "of tokens in prompt or text; 1: none; default: as the model's files say, else 1");
  app.add_option("--frequency-penalty", params.frequency_penalty, "for each time that a token was generated")
      ->capture_default_str();
  app.add_option("--presence-penalty", params.presence_penalty, "once a token was generated")->capture_default_str();
  app.add_option("--logit-bias", logit_bias, "ID=BIAS, added to a token's logit; -inf forbids it; may be repeated");
  app.add_option("--stop", params.stop, "a string that ends the text; may be repeated");
  app.add_option("--stop-id", params.stop_ids, "a token that ends the text; may be repeated");
  app.add_flag("--ignore-eos", params.ignore_eos, "the model's end tokens do not end the text");
}

engine::SamplingParams SamplingFlags::resolved(const model::GenerationDefaults& defaults) const {
  engine::SamplingParams p = params;
  p.temperature = temperature.value_or(defaults.temperature.value_or(p.temperature));
  p.top_k = top_k.value_or(defaults.top_k.value_or(p.top_k));
  p.top_p = top_p.value_or(defaults.top_p.value_or(p.top_p));
  p.min_p = min_p.value_or(defaults.min_p.value_or(p.min_p));
  p.repetition_penalty = repetition_penalty.value_or(defaults.repetition_penalty.value_or(p.repetition_penalty));
  if (max_tokens > 0) p.max_tokens = max_tokens;
  for (const std::string& entry : logit_bias) {
    const std::size_t at = entry.find('=');
    char *id_end = nullptr, *bias_end = nullptr;
    const long id = std::strtol(entry.c_str(), &id_end, 10);
    const float bias = at == std::string::npos ? 0 : std::strtof(entry.c_str() + at + 1, &bias_end);
    if (at == std::string::npos || at == 0 || id_end != entry.c_str() + at || bias_end == entry.c_str() + at + 1 ||
        *bias_end != '\0' || id < 0 || id > 0x7fffffff)
      fail_input("--logit-bias '{}': wanted is ID=BIAS, for example 42=-inf", entry);
    p.logit_bias.push_back({std::int32_t(id), bias});
  }
  return p;
}

}  // namespace ridge::cli
