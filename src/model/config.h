// What a model is, whatever file said it: read from GGUF metadata or config.json, then used by the families' forward
// passes, by inspect and by the planner. One struct for all families: a field that a family has no use for keeps its
// neutral value.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/step.h"
#include "op/rope/rope.h"

namespace ridge::model {

// Bounds of what a file may say, so that sizes computed from it neither overflow nor take the machine.
inline constexpr std::int64_t most_layers = 1 << 12, most_experts = 1 << 12, most_heads = 1 << 16,
                              most_head_dim = 1 << 16;
inline constexpr std::int64_t most_size = std::int64_t(1) << 31;

struct RopeScaling {
  enum class Kind : std::uint8_t { none, linear, llama3, yarn, longrope } kind = Kind::none;
  double factor = 1;                                           // how many times longer the context becomes
  std::int64_t original_context = 0;                           // what the model was trained at
  double low_freq_factor = 1, high_freq_factor = 4;            // llama3
  double beta_fast = 32, beta_slow = 1, attention_factor = 0;  // yarn; attention_factor 0: by formula
  double mscale = 0, mscale_all_dim = 0;                       // yarn, DeepSeek's
  bool truncate = true;                                        // yarn: whole dimensions
  std::vector<float> short_factors, long_factors;              // longrope: divide the frequencies
};

struct Rope {
  double base = 10000;
  std::int64_t dims = 0;  // rotated elements of each head
  op::RopeStyle style = op::RopeStyle::halves;
  RopeScaling scaling;
};

struct Config {
  std::string architecture;  // GGUF's name of the family: "llama", "qwen3"
  std::string name;          // what the file calls the model
  std::int64_t layers = 0, hidden = 0, ffn = 0, vocab = 0;
  std::int64_t heads = 0, kv_heads = 0, head_dim = 0;
  std::int64_t context = 0;  // the longest that the model was made for
  float norm_eps = 1e-5f;
  float norm_offset = 0;  // Gemma as Hugging Face stores it: norms multiply by 1 + weight (GGUF files hold the sum)
  Rope rope;
  std::optional<Rope> local_rope;  // of windowed layers, where theirs differs (Gemma 3)

  float attention_scale = 0;        // multiplies q k^T
  std::int64_t sliding_window = 0;  // keys that a query of a windowed layer sees, itself included; 0: there are none
  std::vector<bool> windowed;       // by layer; empty: all of them, if there is a window
  float attention_softcap = 0, logit_softcap = 0;
  float embedding_scale = 1, residual_scale = 1, logit_scale = 1;  // each multiplies
  std::int64_t experts = 0, experts_used = 0, expert_ffn = 0;      // 0 experts: no layer is routed
  bool normalize_routes = true;                                    // the weights of a token's experts sum to 1

  std::int64_t q_columns() const { return heads * head_dim; }
  std::int64_t kv_columns() const { return kv_heads * head_dim; }
  bool is_windowed(std::int64_t layer) const {
    return sliding_window > 0 && (windowed.empty() || windowed[std::size_t(layer)]);
  }
  std::int64_t window(std::int64_t layer) const { return is_windowed(layer) ? sliding_window : 0; }  // 0: sees all
  ir::StepRules step_rules() const { return {sliding_window, experts, experts_used}; }
};

}  // namespace ridge::model
