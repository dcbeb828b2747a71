#include "model/shapes.h"

#include <cmath>

#include "base/error.h"
#include "model/config_from_hf.h"

namespace ridge::model {
namespace {

// From the models' published config.json. Biases, where a family has them, are left out: they weigh nothing.
struct Sizes {
  std::string_view name, architecture;
  std::int64_t layers, hidden, ffn, heads, kv_heads, head_dim, vocab, context;
  double rope_base;
  bool tied;
  std::int64_t window = 0, experts = 0, experts_used = 0, expert_ffn = 0;
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
    {"mixtral-8x7b", "llama", 32, 4096, 14336, 32, 8, 128, 32000, 32768, 1000000, false, 0, 8, 2, 14336},
    {"mixtral-8x22b", "llama", 56, 6144, 16384, 48, 8, 128, 32768, 65536, 1000000, false, 0, 8, 2, 16384},
    {"qwen2.5-0.5b", "qwen2", 24, 896, 4864, 14, 2, 64, 151936, 32768, 1000000, true},
    {"qwen2.5-1.5b", "qwen2", 28, 1536, 8960, 12, 2, 128, 151936, 32768, 1000000, true},
    {"qwen2.5-7b", "qwen2", 28, 3584, 18944, 28, 4, 128, 152064, 32768, 1000000, false},
    {"qwen2.5-32b", "qwen2", 64, 5120, 27648, 40, 8, 128, 152064, 32768, 1000000, false},
    {"qwen2.5-72b", "qwen2", 80, 8192, 29568, 64, 8, 128, 152064, 32768, 1000000, false},
    {"qwen3-0.6b", "qwen3", 28, 1024, 3072, 16, 8, 128, 151936, 40960, 1000000, true},
    {"qwen3-1.7b", "qwen3", 28, 2048, 6144, 16, 8, 128, 151936, 40960, 1000000, true},
    {"qwen3-4b", "qwen3", 36, 2560, 9728, 32, 8, 128, 151936, 40960, 1000000, true},
    {"qwen3-8b", "qwen3", 36, 4096, 12288, 32, 8, 128, 151936, 40960, 1000000, false},
    {"qwen3-14b", "qwen3", 40, 5120, 17408, 40, 8, 128, 151936, 40960, 1000000, false},
    {"qwen3-32b", "qwen3", 64, 5120, 25600, 64, 8, 128, 151936, 40960, 1000000, false},
    {"qwen3-30b-a3b", "qwen3moe", 48, 2048, 6144, 32, 4, 128, 151936, 40960, 1000000, false, 0, 128, 8, 768},
    {"qwen3-235b-a22b", "qwen3moe", 94, 4096, 12288, 64, 4, 128, 151936, 40960, 1000000, false, 0, 128, 8, 1536},
    {"gemma-2-2b", "gemma2", 26, 2304, 9216, 8, 4, 256, 256000, 8192, 10000, true, 4096},
    {"gemma-2-9b", "gemma2", 42, 3584, 14336, 16, 8, 256, 256000, 8192, 10000, true, 4096},
    {"gemma-3-1b", "gemma3", 26, 1152, 6912, 4, 1, 256, 262144, 32768, 1000000, true, 512},
    {"phi-3-mini-4k", "phi3", 32, 3072, 8192, 32, 32, 96, 32064, 4096, 10000, false, 2047},
    {"phi-4", "phi3", 40, 5120, 17920, 40, 10, 128, 100352, 16384, 250000, false},
    {"olmo-2-7b", "olmo2", 32, 4096, 11008, 32, 32, 128, 100352, 4096, 500000, false},
    {"granite-3.1-8b", "granite", 40, 4096, 12800, 32, 8, 128, 49155, 131072, 10000000, true},
    {"gpt2", "gpt2", 12, 768, 3072, 12, 12, 64, 50257, 1024, 10000, true},
    {"gpt2-xl", "gpt2", 48, 1600, 6400, 25, 25, 64, 50257, 1024, 10000, true},
};

// What a family adds to its sizes and what changes which calls are recorded, or what they cost.
void add_family(Config& c) {
  const bool gemma2 = c.architecture == "gemma2", gemma3 = c.architecture == "gemma3";
  if (!gemma2 && !gemma3) return;
  c.embedding_scale = float(std::sqrt(double(c.hidden)));
  if (gemma2) c.attention_softcap = 50, c.logit_softcap = 30;
  if (gemma3) c.local_rope = Rope{.base = 10000, .dims = c.head_dim};
  for (std::int64_t l = 0; l < c.layers; ++l) c.windowed.push_back(gemma2 ? l % 2 == 0 : l % 6 != 5);
}

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
    d.config = {.architecture = std::string(s.architecture),
                .name = std::string(name),
                .layers = s.layers,
                .hidden = s.hidden,
                .ffn = s.ffn,
                .vocab = s.vocab,
                .heads = s.heads,
                .kv_heads = s.kv_heads,
                .head_dim = s.head_dim,
                .context = s.context};
    d.config.rope = {.base = s.rope_base, .dims = s.head_dim};
    d.config.sliding_window = s.window;
    d.config.experts = s.experts, d.config.experts_used = s.experts_used, d.config.expert_ffn = s.expert_ffn;
    add_family(d.config);
    d.config.attention_scale = float(1 / std::sqrt(double(s.head_dim)));
    return d;
  }
  std::string known;
  for (std::string_view n : names) known += (known.empty() ? "" : ", ") + std::string(n);
  fail_input("no shape is called '{}'; there are {}", name, known);
}

Description shape_or_config(const std::string& text, DType dtype) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path path = fs::is_directory(text, ignored) ? fs::path(text) / "config.json" : fs::path(text);
  if (!fs::is_regular_file(path, ignored)) return named_shape(text, dtype);
  HfDescription said = config_from_hf(io::HfConfig::read(path));
  Description d;
  d.config = std::move(said.config);
  d.config.norm_offset = 0;  // random norms are near 1, as GGUF has them
  d.path = path.string();
  d.random_dtype = dtype;
  d.tied = said.tied;
  return d;
}

}  // namespace ridge::model
