#include "model/config_from_hf.h"

#include <cmath>

#include "base/error.h"

namespace ridge::model {
namespace {

std::int64_t checked(const io::HfConfig& h, std::string_view key, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value < least || value > most) h.fail(key, fmt::format("is {}; accepted is {} to {}", value, least, most));
  return value;
}
std::int64_t size(const io::HfConfig& h, std::string_view key, std::int64_t most = most_size) { return checked(h, key, h.integer(key), 1, most); }
std::int64_t size_or(const io::HfConfig& h, std::string_view key, std::int64_t otherwise) { return checked(h, key, h.integer(key, otherwise), 1, most_size); }

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

void read_sizes(const io::HfConfig& h, Config& c) {
  c.layers = size(h, "num_hidden_layers", most_layers);
  c.hidden = size(h, "hidden_size");
  c.ffn = size(h, "intermediate_size");
  c.vocab = size(h, "vocab_size");
  c.context = size(h, "max_position_embeddings");
  c.heads = size(h, "num_attention_heads");
  c.kv_heads = size_or(h, "num_key_value_heads", c.heads);
  c.norm_eps = float(h.number("rms_norm_eps", 1e-6));
  if (c.heads % c.kv_heads != 0) h.fail("num_key_value_heads", fmt::format("is {}, which does not divide the {} heads", c.kv_heads, c.heads));
  if (!h.has("head_dim") && c.hidden % c.heads != 0)
    h.fail("num_attention_heads", fmt::format("is {}, which does not divide hidden_size {}; without head_dim it must", c.heads, c.hidden));
  c.head_dim = size_or(h, "head_dim", c.hidden / c.heads);
  c.attention_scale = float(1 / std::sqrt(double(c.head_dim)));
}

// Which layers see a window: `layer_types` in newer files; in older ones each family's own rule, `rule(layer)`.
template <class Rule> void read_windows(const io::HfConfig& h, Config& c, Rule rule) {
  c.sliding_window = h.has("sliding_window") ? checked(h, "sliding_window", h.integer("sliding_window"), 0, most_size) : 0;
  for (std::int64_t l = 0; l < c.layers; ++l) c.windowed.push_back(rule(l));
  if (!h.has("layer_types")) return;
  const std::vector<std::string> types = h.texts("layer_types");
  if (std::int64_t(types.size()) != c.layers) h.fail("layer_types", fmt::format("has {} entries for {} layers", types.size(), c.layers));
  for (std::size_t l = 0; l < types.size(); ++l) {
    if (types[l] != "full_attention" && types[l] != "sliding_attention")
      h.fail("layer_types", fmt::format("has '{}'; supported are full_attention and sliding_attention", types[l]));
    c.windowed[l] = types[l] == "sliding_attention";
    if (c.windowed[l] && c.sliding_window == 0) h.fail("layer_types", "has sliding_attention, but sliding_window has no value");
  }
}

std::string_view rope_object(const io::HfConfig& h) { return h.has("rope_parameters") ? "rope_parameters" : "rope_scaling"; }

void llama_family(const io::HfConfig& h, Config& c) {  // and Mistral
  expect_text(h, "hidden_act", "silu");
  read_windows(h, c, [](std::int64_t) { return true; });
  c.rope = rope_from_hf(h, rope_object(h), c);
  expect(h, "rope_interleaved", false);
  h.ignore("attention_bias"), h.ignore("mlp_bias");  // the file has them or not
}

void qwen_family(const io::HfConfig& h, Config& c) {
  expect_text(h, "hidden_act", "silu");
  const std::int64_t first = h.integer("max_window_layers", 28);
  read_windows(h, c, [&](std::int64_t l) { return l >= first; });
  if (!h.truth("use_sliding_window", false)) c.sliding_window = 0;
  c.rope = rope_from_hf(h, rope_object(h), c);
  h.ignore("attention_bias");
}

struct Special {
  std::string_view model_type, architecture;  // config.json's name, GGUF's
  bool tied;                                  // where config.json does not say
  void (*read)(const io::HfConfig&, Config&);
};
constexpr Special special[] = {
    {"llama", "llama", false, llama_family},
    {"mistral", "llama", false, llama_family},
    {"qwen2", "qwen2", false, qwen_family},
    {"qwen3", "qwen3", false, qwen_family},
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
  read_sizes(h, d.config);
  family.read(h, d.config);
  d.tied = h.truth("tie_word_embeddings", family.tied);
  for (const char* key : {"is_decoder", "is_encoder_decoder", "add_cross_attention"}) expect(h, key, false);
  ignore_harmless_keys(h);
  if (const std::vector<std::string> unknown = h.unread(); !unknown.empty())
    h.fail(unknown[0], "is not known to ridge for this architecture; it might change the result");
  return d;
}

}  // namespace ridge::model
