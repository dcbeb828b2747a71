#include "model/config_from_hf.h"

#include <cmath>

#include "base/error.h"

namespace ridge::model {
namespace {

std::int64_t checked(const io::HfConfig& h, std::string_view key, std::int64_t value, std::int64_t least,
                     std::int64_t most) {
  if (value < least || value > most) h.fail(key, fmt::format("is {}; accepted is {} to {}", value, least, most));
  return value;
}
std::int64_t size(const io::HfConfig& h, std::string_view key, std::int64_t most = most_size) {
  return checked(h, key, h.integer(key), 1, most);
}
std::int64_t size_or(const io::HfConfig& h, std::string_view key, std::int64_t otherwise) {
  return checked(h, key, h.integer(key, otherwise), 1, most_size);
}

double factor_or(const io::HfConfig& h, std::string_view key, double otherwise) {
  const double value = h.number(key, otherwise);
  if (!std::isfinite(value) || value == 0) h.fail(key, fmt::format("is {}; accepted is a number other than 0", value));
  return value;
}

// A key that may be there with one value alone.
void expect(const io::HfConfig& h, std::string_view key, bool only) {
  if (h.truth(key, only) != only) h.fail(key, fmt::format("is {}; only {} is supported", !only, only));
}
void expect_text(const io::HfConfig& h, std::string_view key, std::string_view only) {
  if (h.text(key, only) != only) h.fail(key, fmt::format("is '{}'; only '{}' is supported", h.text(key), only));
}

float read_epsilon(const io::HfConfig& h, const char* key, double or_else) {  // of a norm
  const float eps = float(h.number(key, or_else));
  if (!(eps > 0 && eps < 1)) h.fail(key, fmt::format("is {}; accepted is more than 0 and less than 1", eps));
  return eps;
}

void read_sizes(const io::HfConfig& h, Config& c) {
  c.layers = size(h, "num_hidden_layers", most_layers);
  c.hidden = size(h, "hidden_size");
  c.ffn = size(h, "intermediate_size");
  c.vocab = size(h, "vocab_size");
  c.context = size(h, "max_position_embeddings");
  c.heads = size(h, "num_attention_heads", most_heads);
  c.kv_heads = size_or(h, "num_key_value_heads", c.heads);
  c.norm_eps = read_epsilon(h, "rms_norm_eps", 1e-6);
  if (c.heads % c.kv_heads != 0)
    h.fail("num_key_value_heads", fmt::format("is {}, which does not divide the {} heads", c.kv_heads, c.heads));
  if (!h.has("head_dim") && c.hidden % c.heads != 0)
    h.fail("num_attention_heads",
           fmt::format("is {}, which does not divide hidden_size {}; without head_dim it must", c.heads, c.hidden));
  c.head_dim = checked(h, "head_dim", h.integer("head_dim", c.hidden / c.heads), 1, most_head_dim);
  c.attention_scale = float(1 / std::sqrt(double(c.head_dim)));
}

// Which layers see a window: `layer_types` in newer files; in older ones each family's own rule, `rule(layer)`.
template <class Rule> void read_windows(const io::HfConfig& h, Config& c, Rule rule) {
  c.sliding_window =
      h.has("sliding_window") ? checked(h, "sliding_window", h.integer("sliding_window"), 0, most_size) : 0;
  for (std::int64_t l = 0; l < c.layers; ++l) c.windowed.push_back(rule(l));
  if (!h.has("layer_types")) return;
  const std::vector<std::string> types = h.texts("layer_types");
  if (std::int64_t(types.size()) != c.layers)
    h.fail("layer_types", fmt::format("has {} entries for {} layers", types.size(), c.layers));
  for (std::size_t l = 0; l < types.size(); ++l) {
    if (types[l] != "full_attention" && types[l] != "sliding_attention")
      h.fail("layer_types", fmt::format("has '{}'; supported are full_attention and sliding_attention", types[l]));
    c.windowed[l] = types[l] == "sliding_attention";
    if (c.windowed[l] && c.sliding_window == 0)
      h.fail("layer_types", "has sliding_attention, but sliding_window has no value");
  }
}

void read_experts(const io::HfConfig& h, Config& c) {
  const std::string_view key = h.has("num_local_experts") ? "num_local_experts" : "num_experts";
  c.experts = size(h, key, most_experts);
  c.experts_used = checked(h, "num_experts_per_tok", h.integer("num_experts_per_tok"), 1, c.experts);
  c.expert_ffn = c.ffn;
}

std::string_view rope_object(const io::HfConfig& h) {
  return h.has("rope_parameters") ? "rope_parameters" : "rope_scaling";
}

void llama_family(const io::HfConfig& h, Config& c) {  // and Mistral
  expect_text(h, "hidden_act", "silu");
  read_windows(h, c, [](std::int64_t) { return true; });
  c.rope = rope_from_hf(h, rope_object(h), c);
  expect(h, "rope_interleaved", false);
  h.ignore("attention_bias"), h.ignore("mlp_bias");  // the file has them or not
}

void qwen_family(const io::HfConfig& h, Config& c) {
  expect_text(h, "hidden_act", "silu");
  expect(h, "use_mrope", false);
  const std::int64_t first = h.integer("max_window_layers", 28);
  read_windows(h, c, [&](std::int64_t l) { return l >= first; });
  if (!h.truth("use_sliding_window", false)) c.sliding_window = 0;
  c.rope = rope_from_hf(h, rope_object(h), c);
  h.ignore("attention_bias");
}

void qwen3_moe(const io::HfConfig& h, Config& c) {
  qwen_family(h, c);
  if (h.integer("decoder_sparse_step", 1) != 1)
    h.fail("decoder_sparse_step", "is not 1; layers without experts are not supported");
  if (h.has("mlp_only_layers") && !h.integers("mlp_only_layers").empty())
    h.fail("mlp_only_layers", "is not empty; layers without experts are not supported");
  read_experts(h, c);
  c.expert_ffn = size(h, "moe_intermediate_size");
  c.normalize_routes = h.truth("norm_topk_prob", false);
  if (h.truth("use_sliding_window", false)) c.windowed.clear();  // all layers
}

void mixtral(const io::HfConfig& h, Config& c) {
  llama_family(h, c);
  read_experts(h, c);
}

void phi3(const io::HfConfig& h, Config& c) {
  llama_family(h, c);
  h.ignore("original_max_position_embeddings");  // without a scaling nothing asks for it
}

void granite(const io::HfConfig& h, Config& c) {
  llama_family(h, c);
  c.attention_scale = float(factor_or(h, "attention_multiplier", 1));
  c.embedding_scale = float(factor_or(h, "embedding_multiplier", 1));
  c.residual_scale = float(factor_or(h, "residual_multiplier", 1));
  c.logit_scale = float(1 / factor_or(h, "logits_scaling", 1));
}

void gemma_common(const io::HfConfig& h, Config& c) {
  constexpr std::string_view gelu = "gelu_pytorch_tanh";
  expect_text(h, "hidden_activation", gelu), expect_text(h, "hidden_act", gelu);
  expect(h, "attention_bias", false), expect(h, "use_bidirectional_attention", false);
  const double scalar = factor_or(h, "query_pre_attn_scalar", 256);
  if (scalar < 0) h.fail("query_pre_attn_scalar", "is negative");
  c.attention_scale = float(1 / std::sqrt(scalar));
  c.embedding_scale = float(std::sqrt(double(c.hidden)));
  c.norm_offset = 1;
  c.attention_softcap = float(h.number("attn_logit_softcapping", 0));
  c.logit_softcap = float(h.number("final_logit_softcapping", 0));
}

void gemma2(const io::HfConfig& h, Config& c) {
  gemma_common(h, c);
  read_windows(h, c, [](std::int64_t l) { return l % 2 == 0; });
  c.rope = rope_from_hf(h, rope_object(h), c);
}

// Windowed layers turn with a base of their own, unscaled: in newer files in an object for each kind of layer.
void gemma3(const io::HfConfig& h, Config& c) {
  gemma_common(h, c);
  const std::string_view key = h.has("sliding_window_pattern") ? "sliding_window_pattern" : "_sliding_window_pattern";
  const std::int64_t period = checked(h, key, h.integer(key, 6), 1, most_layers);
  h.ignore("sliding_window_pattern"), h.ignore("_sliding_window_pattern");
  read_windows(h, c, [&](std::int64_t l) { return (l + 1) % period != 0; });
  if (h.has("rope_parameters.full_attention")) {
    c.rope = rope_from_hf(h, "rope_parameters.full_attention", c);
    c.local_rope = rope_from_hf(h, "rope_parameters.sliding_attention", c);
  } else {
    c.rope = rope_from_hf(h, rope_object(h), c);
    c.local_rope = Rope{.base = factor_or(h, "rope_local_base_freq", 10000), .dims = c.rope.dims};
  }
}

// GPT-2 has its own words for everything.
void gpt2(const io::HfConfig& h, Config& c) {
  const std::string activation = h.text("activation_function", "gelu_new");
  if (activation != "gelu_new" && activation != "gelu_pytorch_tanh")
    h.fail("activation_function", fmt::format("is '{}'; supported are gelu_new, gelu_pytorch_tanh", activation));
  expect(h, "scale_attn_weights", true), expect(h, "scale_attn_by_inverse_layer_idx", false);
  c.layers = size(h, "n_layer", most_layers);
  c.hidden = size(h, "n_embd");
  c.ffn = size_or(h, "n_inner", 4 * c.hidden);
  c.vocab = size(h, "vocab_size");
  c.context = size(h, "n_positions");
  c.heads = c.kv_heads = size(h, "n_head", most_heads);
  if (c.hidden % c.heads != 0)
    h.fail("n_head", fmt::format("is {}, which does not divide n_embd {}", c.heads, c.hidden));
  c.head_dim = checked(h, "n_embd", c.hidden / c.heads, 1, most_head_dim);
  c.attention_scale = float(1 / std::sqrt(double(c.head_dim)));
  c.norm_eps = read_epsilon(h, "layer_norm_epsilon", 1e-5);
  h.ignore("n_ctx");  // an older name of n_positions
}

// FP8 weights with a scale for each tensor or each row; what activations were quantized to does not matter here.
void read_quantization(const io::HfConfig& h) {
  constexpr std::string_view object = "quantization_config",
                             supported =
                                 "supported are fp8 and compressed-tensors' float-quantized, by tensor or by channel";
  if (!h.has(object)) return;
  const auto key = [&](std::string_view name) { return fmt::format("{}.{}", object, name); };
  const std::string method = h.text(key("quant_method"));
  if (h.has(key("weight_block_size")))
    h.fail(key("weight_block_size"), fmt::format("asks for scales of blocks; {}", supported));
  if (method == "compressed-tensors") {
    if (h.text(key("format")) != "float-quantized")
      h.fail(key("format"), fmt::format("is '{}'; {}", h.text(key("format")), supported));
    for (const std::string& group : h.names_in(key("config_groups"))) {
      const std::string strategy = fmt::format("{}.{}.weights.strategy", key("config_groups"), group);
      if (h.text(strategy) != "tensor" && h.text(strategy) != "channel")
        h.fail(strategy, fmt::format("is '{}'; {}", h.text(strategy), supported));
    }
  } else if (method != "fp8") {
    h.fail(key("quant_method"), fmt::format("is '{}'; {}", method, supported));
  }
  h.ignore(object);
}

enum class Sizes : std::uint8_t { common, own };  // the words for sizes that most families use, or the family's own

struct Special {
  std::string_view model_type, architecture;  // config.json's name, GGUF's
  bool tied;                                  // where config.json does not say
  void (*read)(const io::HfConfig&, Config&);
  Sizes sizes = Sizes::common;
};
constexpr Special special[] = {
    {"llama", "llama", false, llama_family},
    {"mistral", "llama", false, llama_family},
    {"qwen2", "qwen2", false, qwen_family},
    {"qwen3", "qwen3", false, qwen_family},
    {"qwen3_moe", "qwen3moe", false, qwen3_moe},
    {"mixtral", "llama", false, mixtral},
    {"phi3", "phi3", false, phi3},
    {"granite", "granite", false, granite},
    {"gemma2", "gemma2", true, gemma2},
    {"gemma3_text", "gemma3", true, gemma3},
    {"olmo2", "olmo2", false, llama_family},
    {"gpt2", "gpt2", true, gpt2, Sizes::own},
};

const Special& family_of(const io::HfConfig& h) {
  const std::string& type = h.text("model_type");
  std::string known;
  for (const Special& s : special) {
    if (s.model_type == type) return s;
    known += (known.empty() ? "" : ", ") + std::string(s.model_type);
  }
  h.fail("model_type", fmt::format("is '{}'; supported are {}", type, known));
}

}  // namespace

HfDescription config_from_hf(const io::HfConfig& h) {
  const Special& family = family_of(h);
  HfDescription d;
  d.config.architecture = family.architecture;
  d.config.name = h.text("_name_or_path", family.model_type);
  if (family.sizes == Sizes::common) read_sizes(h, d.config);
  family.read(h, d.config);
  read_quantization(h);
  d.tied = h.truth("tie_word_embeddings", family.tied);
  for (const char* key : {"is_decoder", "is_encoder_decoder", "add_cross_attention"}) expect(h, key, false);
  ignore_harmless_keys(h);
  if (const std::vector<std::string> unknown = h.unread(); !unknown.empty())
    h.fail(unknown[0], "is not known to ridge for this architecture; it might change the result");
  return d;
}

}  // namespace ridge::model
