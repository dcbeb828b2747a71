#include "model/families.h"

namespace ridge::model {

static constexpr Family all[] = {
    {"llama", llama},    {"qwen2", llama},   {"phi3", llama},    {"granite", llama}, {"qwen3", qwen3},
    {"qwen3moe", qwen3}, {"gemma2", gemma2}, {"gemma3", gemma3}, {"olmo2", olmo2},   {"gpt2", gpt2},
};

std::span<const Family> families() { return all; }

const Family* find_family(std::string_view architecture) {
  for (const Family& f : all)
    if (f.architecture == architecture) return &f;
  return nullptr;
}

}  // namespace ridge::model
