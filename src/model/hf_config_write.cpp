#include "model/hf_config_write.h"

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace ridge::model {
namespace {

using Json = nlohmann::ordered_json;

struct Name {
  std::string_view type, whole;  // model_type, architectures
};

Name name_of(const Config& c) {
  if (c.architecture == "llama" && c.experts > 0) return {"mixtral", "MixtralForCausalLM"};
  if (c.architecture == "llama" && c.sliding_window > 0) return {"mistral", "MistralForCausalLM"};
  if (c.architecture == "llama") return {"llama", "LlamaForCausalLM"};
  if (c.architecture == "qwen2") return {"qwen2", "Qwen2ForCausalLM"};
  if (c.architecture == "qwen3") return {"qwen3", "Qwen3ForCausalLM"};
  if (c.architecture == "qwen3moe") return {"qwen3_moe", "Qwen3MoeForCausalLM"};
  if (c.architecture == "gemma2") return {"gemma2", "Gemma2ForCausalLM"};
  if (c.architecture == "gemma3") return {"gemma3_text", "Gemma3ForCausalLM"};
  if (c.architecture == "phi3") return {"phi3", "Phi3ForCausalLM"};
  if (c.architecture == "granite") return {"granite", "GraniteForCausalLM"};
  if (c.architecture == "olmo2") return {"olmo2", "Olmo2ForCausalLM"};
  if (c.architecture == "gpt2") return {"gpt2", "GPT2LMHeadModel"};
  fail_bug("the architecture '{}' has no name in config.json", c.architecture);
}

void put_gpt2(const Config& c, Json& j) {
  j["n_layer"] = c.layers, j["n_embd"] = c.hidden, j["n_inner"] = c.ffn, j["n_head"] = c.heads;
  j["n_positions"] = c.context, j["vocab_size"] = c.vocab, j["layer_norm_epsilon"] = c.norm_eps;
  j["activation_function"] = "gelu_new";
}

void put_common(const Config& c, Json& j) {
  j["hidden_size"] = c.hidden, j["intermediate_size"] = c.ffn, j["num_hidden_layers"] = c.layers;
  j["num_attention_heads"] = c.heads, j["num_key_value_heads"] = c.kv_heads, j["head_dim"] = c.head_dim;
  j["vocab_size"] = c.vocab, j["max_position_embeddings"] = c.context, j["rms_norm_eps"] = c.norm_eps;
  j["rope_theta"] = c.rope.base;
  if (c.rope.dims != c.head_dim) j["partial_rotary_factor"] = double(c.rope.dims) / double(c.head_dim);
  if (c.sliding_window > 0) j["sliding_window"] = c.sliding_window;
  else if (c.architecture == "phi3" || c.experts > 0) j["sliding_window"] = nullptr;  // there they have a default
  if (c.architecture == "phi3") j["original_max_position_embeddings"] = c.context;
}

void put_experts(const Config& c, Json& j) {
  if (c.experts == 0) return;
  j[c.architecture == "llama" ? "num_local_experts" : "num_experts"] = c.experts;
  j["num_experts_per_tok"] = c.experts_used;
  if (c.architecture != "llama") j["moe_intermediate_size"] = c.expert_ffn, j["norm_topk_prob"] = c.normalize_routes;
}

void put_gemma(const Config& c, Json& j) {
  j["hidden_activation"] = "gelu_pytorch_tanh";
  j["query_pre_attn_scalar"] = std::int64_t(1 / double(c.attention_scale) / double(c.attention_scale) + 0.5);
  if (c.attention_softcap != 0) j["attn_logit_softcapping"] = c.attention_softcap;
  if (c.logit_softcap != 0) j["final_logit_softcapping"] = c.logit_softcap;
  if (c.local_rope) j["rope_local_base_freq"] = c.local_rope->base, j["sliding_window_pattern"] = 6;
}

void put_granite(const Config& c, Json& j) {
  j["attention_multiplier"] = c.attention_scale, j["embedding_multiplier"] = c.embedding_scale;
  j["residual_multiplier"] = c.residual_scale, j["logits_scaling"] = 1 / double(c.logit_scale);
}

}  // namespace

std::string hf_config_text(const Config& c, bool tied, DType type) {
  if (c.rope.scaling.kind != RopeScaling::Kind::none) fail_bug("{}: its rope is scaled", c.name);
  const Name name = name_of(c);
  Json j = {{"architectures", {name.whole}}, {"model_type", name.type}};
  j["torch_dtype"] = type == DType::f32 ? "float32" : type == DType::f16 ? "float16" : "bfloat16";
  if (c.architecture == "gpt2") put_gpt2(c, j);
  else put_common(c, j);
  put_experts(c, j);
  if (c.architecture.starts_with("gemma")) put_gemma(c, j);
  if (c.architecture == "granite") put_granite(c, j);
  j["tie_word_embeddings"] = tied;
  return j.dump(2) + "\n";
}

}  // namespace ridge::model
