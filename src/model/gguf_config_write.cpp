#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "model/gguf_config.h"
#include "model/rope_frequencies.h"

namespace ridge::model {
namespace {

class Keys {  // "llama.block_count" and the like
 public:
  Keys(const Config& c, io::GgufPairs& pairs) : prefix_(c.architecture + "."), pairs_(pairs) {}
  void size(std::string_view name, std::int64_t v) { pairs_.put_u32(key(name), std::uint32_t(v)); }
  void number(std::string_view name, double v) { pairs_.put_f32(key(name), float(v)); }
  void text(std::string_view name, std::string_view v) { pairs_.put_string(key(name), v); }
  void truth(std::string_view name, bool v) { pairs_.put_bool(key(name), v); }
  void truths(std::string_view name, const std::vector<bool>& v) { pairs_.put_bools(key(name), v); }

 private:
  std::string key(std::string_view name) const { return prefix_ + std::string(name); }
  std::string prefix_;
  io::GgufPairs& pairs_;
};

std::vector<bool> windows(const Config& c) {
  return c.windowed.empty() ? std::vector<bool>(std::size_t(c.layers), true) : c.windowed;
}

bool has_windows(const Config& c) {
  const std::vector<bool> list = windows(c);
  return c.sliding_window > 0 && std::find(list.begin(), list.end(), true) != list.end();
}
bool has_window_list(const Config& c) {
  return has_windows(c) && windows(c) != default_windows_in_gguf(c.architecture, c.layers);
}

void put_attention(const Config& c, Keys& k) {
  k.size("attention.head_count", c.heads);
  k.size("attention.head_count_kv", c.kv_heads);
  k.size("attention.key_length", c.head_dim);
  k.size("attention.value_length", c.head_dim);
  if (c.architecture == "gpt2") k.number("attention.layer_norm_epsilon", c.norm_eps);
  else k.number("attention.layer_norm_rms_epsilon", c.norm_eps);
  if (c.architecture == "granite" || c.attention_scale != float(default_attention_scale_in_gguf(c)))
    k.number("attention.scale", c.attention_scale);
  if (has_windows(c)) k.size("attention.sliding_window", c.sliding_window);
  if (has_window_list(c)) k.truths("attention.sliding_window_pattern", windows(c));
  if (c.attention_softcap != 0) k.number("attn_logit_softcapping", c.attention_softcap);
  if (c.logit_softcap != 0) k.number("final_logit_softcapping", c.logit_softcap);
}

void put_scaling(const Config& c, Keys& k) {
  using Kind = RopeScaling::Kind;
  const RopeScaling& s = c.rope.scaling;
  if (s.kind == Kind::none || s.kind == Kind::llama3) return;  // llama3 is in the factors
  k.text("rope.scaling.type", s.kind == Kind::linear ? "linear" : s.kind == Kind::yarn ? "yarn" : "longrope");
  if (s.kind != Kind::linear) k.size("rope.scaling.original_context_length", s.original_context);
  if (s.kind == Kind::longrope) return k.number("rope.scaling.attn_factor", longrope_attention_factor(s));
  k.number("rope.scaling.factor", s.factor);  // of longrope llama.cpp would divide positions by it, too
  if (s.kind == Kind::linear) return;
  if (!s.truncate) fail_input("YaRN with \"truncate\": false cannot be written: GGUF has no word for it");
  k.number("rope.scaling.yarn_beta_fast", s.beta_fast);
  k.number("rope.scaling.yarn_beta_slow", s.beta_slow);
  const double beside_usual = yarn_attention_factor(s) / yarn_usual_factor(s);
  if (std::fabs(beside_usual - 1) > 1e-7) k.number("rope.scaling.attn_factor", beside_usual);
}

void put_rope(const Config& c, Keys& k) {
  if (c.architecture == "gpt2") return;
  k.size("rope.dimension_count", c.rope.dims);
  k.number("rope.freq_base", c.rope.base);
  put_scaling(c, k);
  if (!c.local_rope) return;
  if (c.local_rope->scaling.kind != RopeScaling::Kind::none || c.local_rope->dims != c.rope.dims)
    fail_input(
        "a rope of windowed layers that is scaled, or turns another part of a head, cannot be written: GGUF has no "
        "word for it");
  k.number("rope.freq_base_swa", c.local_rope->base);
}

void put_experts(const Config& c, Keys& k) {
  if (c.experts == 0) return;
  k.size("expert_count", c.experts);
  k.size("expert_used_count", c.experts_used);
  if (c.expert_ffn != c.ffn || c.architecture != "llama") k.size("expert_feed_forward_length", c.expert_ffn);
  if (!c.normalize_routes) k.truth("expert_weights_norm", false);
}

void put_multipliers(const Config& c, Keys& k) {
  if (c.architecture != "granite") return;
  k.number("embedding_scale", c.embedding_scale);
  k.number("residual_scale", c.residual_scale);
  k.number("logit_scale", 1 / double(c.logit_scale));  // it divides
}

}  // namespace

void put_gguf_config(const Config& c, io::GgufPairs& pairs) {
  pairs.put_string("general.architecture", c.architecture);
  pairs.put_string("general.type", "model");
  pairs.put_string("general.name", c.name);
  Keys k(c, pairs);
  k.size("block_count", c.layers);
  k.size("context_length", c.context);
  k.size("embedding_length", c.hidden);
  k.size("feed_forward_length", c.ffn);
  k.size("vocab_size", c.vocab);
  put_attention(c, k);
  put_rope(c, k);
  put_experts(c, k);
  put_multipliers(c, k);
}

std::vector<std::pair<std::string, std::vector<float>>> gguf_rope_factors(const Config& c) {
  const RopeScaling& s = c.rope.scaling;
  if (s.kind == RopeScaling::Kind::longrope)
    return {{"rope_factors_long.weight", s.long_factors}, {"rope_factors_short.weight", s.short_factors}};
  if (s.kind != RopeScaling::Kind::llama3) return {};
  return {{"rope_freqs.weight", llama3_divisors(c.rope)}};
}

std::vector<std::string> unread_by_llama_cpp(const Config& c, bool has_output_bias) {
  using Kind = RopeScaling::Kind;
  const std::string_view a = c.architecture;
  const bool gemma = a == "gemma2" || a == "gemma3", llama = a == "llama" || a == "granite";
  const RopeScaling& s = c.rope.scaling;
  std::vector<std::string> list;
  const auto add = [&](std::string_view what) {
    list.push_back(fmt::format("llama.cpp does not read {} of the architecture '{}'", what, a));
  };
  if (has_output_bias && !llama && a != "gpt2") add("attn_output.bias");
  if (has_windows(c) && !gemma) add("the sliding window");
  if (gemma && c.attention_scale != float(default_attention_scale_in_gguf(c))) add("attention.scale");
  if (!c.normalize_routes) add("expert_weights_norm");
  if (s.kind == Kind::llama3 && !llama) add("rope_freqs");
  if (s.kind == Kind::longrope && !llama && a != "phi3") add("rope_factors_long and rope_factors_short");
  if (s.kind == Kind::yarn && (s.beta_fast != 32 || s.beta_slow != 1)) add("yarn_beta_fast and yarn_beta_slow");
  if (c.rope.dims != c.head_dim && a == "llama") add("rope.dimension_count other than a whole head");
  return list;
}

}  // namespace ridge::model
