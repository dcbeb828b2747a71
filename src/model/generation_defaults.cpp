#include "model/generation_defaults.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace ridge::model {
namespace {

constexpr std::int64_t reference_top_k = 50;  // of transformers, where do_sample is set and top_k is not

float checked(const io::HfConfig& h, std::string_view key, double least, double most) {
  const double value = h.number(key);
  if (!(value >= least) || value > most) h.fail(key, fmt::format("is {}; accepted is {} to {}", value, least, most));
  return float(value);
}

std::vector<std::int32_t> end_ids(const io::HfConfig& h) {
  constexpr std::string_view key = "eos_token_id";
  std::vector<std::int32_t> ids;
  for (std::int64_t id : h.has(key) ? h.integers(key) : std::vector<std::int64_t>()) {
    if (id < -1 || id > INT32_MAX) h.fail(key, fmt::format("has {}; a token id is a whole number from 0", id));
    if (id >= 0) ids.push_back(std::int32_t(id));  // -1 stands for none
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

void read_sampling(const io::HfConfig& h, GenerationDefaults& d) {
  constexpr double any = 1e9;
  if (h.has("repetition_penalty")) d.repetition_penalty = checked(h, "repetition_penalty", 1e-9, any);
  if (!h.has("do_sample")) return;
  d.temperature = 0;
  if (!h.truth("do_sample")) return;
  d.temperature = h.has("temperature") ? checked(h, "temperature", 0, any) : 1;
  d.top_k = std::int32_t(std::clamp<std::int64_t>(h.integer("top_k", reference_top_k), 0, INT32_MAX));
  if (h.has("top_p")) d.top_p = checked(h, "top_p", 1e-9, 1);
  if (h.has("min_p")) d.min_p = checked(h, "min_p", 0, 1);
}

GenerationDefaults from_gguf(const io::GgufMetadata& m) {
  GenerationDefaults d;
  const auto number = [&](const char* key, double least, double most) -> std::optional<float> {
    if (!m.has(key)) return std::nullopt;
    const double value = m.get_f64(key);
    if (!(value >= least) || value > most)
      m.fail(*m.find(key), fmt::format("is {}; accepted is {} to {}", value, least, most));
    return float(value);
  };
  d.temperature = number("general.sampling.temp", 0, 1e9);
  d.top_p = number("general.sampling.top_p", 1e-9, 1);
  d.min_p = number("general.sampling.min_p", 0, 1);
  d.repetition_penalty = number("general.sampling.penalty_repeat", 1e-9, 1e9);
  if (m.has("general.sampling.top_k"))
    d.top_k = std::int32_t(std::clamp<std::int64_t>(m.get_i64("general.sampling.top_k"), 0, INT32_MAX));
  return d;
}

}  // namespace

GenerationDefaults generation_defaults(const io::ModelFiles& files) {
  if (files.gguf()) return from_gguf(*files.gguf());
  GenerationDefaults d;
  if (files.generation) {
    d.end_ids = end_ids(*files.generation);
    read_sampling(*files.generation, d);
  }
  if (d.end_ids.empty() && files.config) d.end_ids = end_ids(*files.config);
  return d;
}

}  // namespace ridge::model
