#include "model/families.h"

namespace ridge::model {

static constexpr Family all[] = {
    {"llama", llama},
    {"qwen2", llama},
    {"qwen3", qwen3},
};

std::span<const Family> families() { return all; }

const Family* find_family(std::string_view architecture) {
  for (const Family& f : all)
    if (f.architecture == architecture) return &f;
  return nullptr;
}

}  // namespace ridge::model
