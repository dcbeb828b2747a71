#include "model/shapes.h"

#include <cmath>

#include "base/error.h"

namespace ridge::model {
namespace {

// From the models' published config.json.
struct Sizes {
  std::string_view name, architecture;
  std::int64_t layers, hidden, ffn, heads, kv_heads, head_dim, vocab, context;
  double rope_base;
  bool tied;
};
constexpr Sizes all[] = {
    {"smollm2-135m", "llama", 30, 576, 1536, 9, 3, 64, 49152, 8192, 100000, true},
    {"smollm2-360m", "llama", 32, 960, 2560, 15, 5, 64, 49152, 8192, 100000, true},
    {"smollm2-1.7b", "llama", 24, 2048, 8192, 32, 32, 64, 49152, 8192, 130000, true},
    {"llama-2-7b", "llama", 32, 4096, 11008, 32, 32, 128, 32000, 4096, 10000, false},
    {"llama-3.2-1b", "llama", 16, 2048, 8192, 32, 8, 64, 128256, 131072, 500000, true},
    {"llama-3.2-3b", "llama", 28, 3072, 8192, 24, 8, 128, 128256, 131072, 500000, true},
    {"llama-3.1-8b", "llama", 32, 4096, 14336, 32, 8, 128, 128256, 131072, 500000, false},
    {"llama-3.1-70b", "llama", 80, 8192, 28672, 64, 8, 128, 128256, 131072, 500000, false},
    {"mistral-7b", "llama", 32, 4096, 14336, 32, 8, 128, 32768, 32768, 1000000, false},
};

constexpr auto names = [] {
  std::array<std::string_view, std::size(all)> list;
  for (std::size_t i = 0; i < list.size(); ++i) list[i] = all[i].name;
  return list;
}();

}  // namespace

std::span<const std::string_view> shape_names() { return names; }

Description named_shape(std::string_view name, DType dtype) {
  for (const Sizes& s : all) {
    if (s.name != name) continue;
    Description d;
    d.path = std::string(name);
    d.random_dtype = dtype;
    d.tied = s.tied;
    d.config = {.architecture = std::string(s.architecture), .name = std::string(name), .layers = s.layers, .hidden = s.hidden, .ffn = s.ffn, .vocab = s.vocab,
                .heads = s.heads, .kv_heads = s.kv_heads, .head_dim = s.head_dim, .context = s.context};
    d.config.rope = {.base = s.rope_base, .dims = s.head_dim};
    d.config.attention_scale = float(1 / std::sqrt(double(s.head_dim)));
    return d;
  }
  std::string known;
  for (std::string_view n : names) known += (known.empty() ? "" : ", ") + std::string(n);
  fail_input("no shape is called '{}'; there are {}", name, known);
}

}  // namespace ridge::model
