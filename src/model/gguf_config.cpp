#include "model/gguf_config.h"

#include <cmath>
#include <set>

#include "base/error.h"
#include "model/rope_frequencies.h"

namespace ridge::model {
namespace {

class Keys {  // "llama.block_count" and the like: keys begin with the architecture's name
 public:
  Keys(const io::GgufMetadata& m, std::string architecture) : m_(m), prefix_(std::move(architecture) + ".") {}
  const std::string& file() const { return m_.file(); }
  bool has(std::string_view name) const { return m_.has(key(name)); }
  // A size: at least `least`, at most `most`.
  std::int64_t size(std::string_view name, std::int64_t most = most_size) const {
    return check(name, m_.get_i64(key(name)), 1, most);
  }
  std::int64_t size_or(std::string_view name, std::int64_t otherwise) const {
    return check(name, m_.get_i64(key(name), otherwise), 0, most_size);
  }
  double number(std::string_view name) const { return m_.get_f64(key(name)); }
  double number_or(std::string_view name, double otherwise) const { return m_.get_f64(key(name), otherwise); }
  bool truth_or(std::string_view name, bool otherwise) const { return m_.get_bool(key(name), otherwise); }
  std::string text_or(std::string_view name, std::string_view otherwise) const {
    return std::string(m_.get_string(key(name), otherwise));
  }
  std::vector<bool> truths(std::string_view name) const { return m_.get_bools(key(name)); }
  bool is_list(std::string_view name) const {
    const io::GgufValue* v = m_.find(key(name));
    return v && v->type == io::GgufType::array;
  }
  void ignore(std::string_view name) const { key(name); }

  // Refuses what nobody asked for: it might change the result.
  void check_all_read() const {
    for (const io::GgufValue& v : m_.all())
      if (v.key.starts_with(prefix_) && !asked_.contains(v.key))
        m_.fail(v, "ridge does not know this key; it might change the result");
  }
  [[noreturn]] void fail(std::string_view name, const std::string& message) const {
    fail_input("{}: key '{}' {}", m_.file(), prefix_ + std::string(name), message);
  }

 private:
  std::string key(std::string_view name) const { return *asked_.insert(prefix_ + std::string(name)).first; }
  std::int64_t check(std::string_view name, std::int64_t value, std::int64_t least, std::int64_t most) const {
    if (value < least || value > most) fail(name, fmt::format("is {}; accepted is {} to {}", value, least, most));
    return value;
  }
  const io::GgufMetadata& m_;
  std::string prefix_;
  mutable std::set<std::string, std::less<>> asked_;
};

RopeScaling read_scaling(const Keys& k, const Config& c) {
  RopeScaling s;
  const std::string type = k.text_or("rope.scaling.type", k.has("rope.scale_linear") ? "linear" : "none");
  s.factor = k.number_or("rope.scaling.factor", k.number_or("rope.scale_linear", 1));
  s.original_context = k.size_or("rope.scaling.original_context_length", 0);
  s.beta_fast = k.number_or("rope.scaling.yarn_beta_fast", s.beta_fast);
  s.beta_slow = k.number_or("rope.scaling.yarn_beta_slow", s.beta_slow);
  s.attention_factor = k.number_or("rope.scaling.attn_factor", 0);
  k.ignore("rope.scaling.finetuned");  // says how the model was trained
  if (type == "linear") s.kind = RopeScaling::Kind::linear;
  else if (type == "yarn") s.kind = RopeScaling::Kind::yarn;
  else if (type == "longrope") s.kind = RopeScaling::Kind::longrope;
  else if (type != "none")
    k.fail("rope.scaling.type", fmt::format("is '{}'; supported are none, linear, yarn, longrope", type));
  if (s.kind == RopeScaling::Kind::linear || s.kind == RopeScaling::Kind::yarn) {
    if (!(s.factor > 0)) k.fail("rope.scaling.factor", fmt::format("is {}; accepted is more than 0", s.factor));
    if (s.kind == RopeScaling::Kind::linear && s.attention_factor != 0 && s.attention_factor != 1)
      k.fail("rope.scaling.attn_factor", "does not go with linear scaling");
    s.attention_factor *= s.kind == RopeScaling::Kind::yarn ? yarn_usual_factor(s) : 0;  // it comes on top of that
  }
  if (s.kind == RopeScaling::Kind::yarn && s.original_context == 0)
    s.original_context = std::int64_t(double(c.context) / s.factor);
  return s;
}

std::vector<bool> periodic(std::int64_t layers, std::int64_t period) {  // the last layer of each period sees all
  std::vector<bool> list;
  for (std::int64_t l = 0; l < layers; ++l) list.push_back(l % period + 1 < period);
  return list;
}

// Which layers have the window, where not all of them do: a list, or a period.
std::vector<bool> windowed_layers(const Keys& k, const Config& c) {
  constexpr std::string_view key = "attention.sliding_window_pattern";
  if (k.is_list(key)) {
    std::vector<bool> list = k.truths(key);
    if (std::int64_t(list.size()) != c.layers)
      k.fail(key, fmt::format("has {} entries for {} layers", list.size(), c.layers));
    return list;
  }
  return k.has(key) ? periodic(c.layers, k.size(key)) : default_windows_in_gguf(c.architecture, c.layers);
}

void with_windows(const Keys& k, Config& c) {
  if (c.sliding_window > 0) c.windowed = windowed_layers(k, c);
}

void llama_family(const Keys& k, Config& c) {
  k.ignore("tensor_data_layout");
  with_windows(k, c);
}

void qwen3_moe(const Keys& k, Config& c) {
  with_windows(k, c);
  c.normalize_routes = k.truth_or("expert_weights_norm", true);
}

void nothing_special(const Keys&, Config&) {}

void granite(const Keys& k, Config& c) {
  llama_family(k, c);
  c.embedding_scale = float(k.number_or("embedding_scale", 1));
  c.residual_scale = float(k.number_or("residual_scale", 1));
  const double divisor = k.number_or("logit_scale", 1);
  if (divisor == 0) k.fail("logit_scale", "is 0");
  c.logit_scale = float(1 / divisor);
}

void gemma_common(const Keys& k, Config& c) {
  c.windowed = windowed_layers(k, c);
  c.embedding_scale = float(std::sqrt(double(c.hidden)));
  c.attention_softcap = float(k.number_or("attn_logit_softcapping", 0));
  c.logit_softcap = float(k.number_or("final_logit_softcapping", 0));
}
void gemma2(const Keys& k, Config& c) { gemma_common(k, c); }
void gemma3(const Keys& k, Config& c) {
  gemma_common(k, c);
  c.local_rope = Rope{.base = k.number_or("rope.freq_base_swa", 10000), .dims = c.rope.dims, .style = c.rope.style};
}

// Which rule each architecture adds to the common keys.
struct Special {
  std::string_view architecture;
  void (*read)(const Keys&, Config&);
};
constexpr Special special[] = {
    {"llama", llama_family}, {"qwen2", with_windows},    {"qwen3", with_windows},   {"qwen3moe", qwen3_moe},
    {"phi3", with_windows},  {"olmo2", nothing_special}, {"gpt2", nothing_special}, {"granite", granite},
    {"gemma2", gemma2},      {"gemma3", gemma3},
};

void read_experts(const Keys& k, Config& c) {
  c.experts = k.size_or("expert_count", 0);
  c.experts_used = k.size_or("expert_used_count", 0);
  c.expert_ffn = k.size_or("expert_feed_forward_length", c.ffn);
  if (c.experts > 0 && (c.experts > most_experts || c.experts_used < 1 || c.experts_used > c.experts))
    k.fail("expert_used_count", fmt::format("is {} of {} experts; accepted is 1 to all of at most {}", c.experts_used,
                                            c.experts, most_experts));
}

void read_attention(const Keys& k, Config& c) {
  c.heads = k.size("attention.head_count", most_heads);
  c.kv_heads = k.size_or("attention.head_count_kv", c.heads);
  if (c.kv_heads < 1 || c.heads % c.kv_heads != 0)
    fail_input("{}: {} kv heads do not divide {} heads", k.file(), c.kv_heads, c.heads);
  c.head_dim = k.size_or("attention.key_length", c.hidden / c.heads);
  if (c.head_dim < 1 || c.head_dim > most_head_dim)
    fail_input("{}: heads of {} elements; accepted is 1 to {}", k.file(), c.head_dim, most_head_dim);
  if (k.size_or("attention.value_length", c.head_dim) != c.head_dim)
    fail_input("{}: keys and values of different lengths are not supported", k.file());
  if (!k.truth_or("attention.causal", true)) k.fail("attention.causal", "is false; encoders are not supported");
  c.attention_scale = float(k.number_or("attention.scale", default_attention_scale_in_gguf(c)));
  c.sliding_window = k.size_or("attention.sliding_window", 0);
}

}  // namespace

bool turns_pairs_in_gguf(std::string_view architecture) { return architecture == "llama" || architecture == "granite"; }

std::vector<bool> default_windows_in_gguf(std::string_view architecture, std::int64_t layers) {
  if (architecture == "gemma2") return periodic(layers, 2);
  if (architecture == "gemma3") return periodic(layers, 6);
  return std::vector<bool>(std::size_t(layers), true);
}

// By the head's size, but for the 27B models of Gemma: neither a key nor a tensor tells them; llama.cpp knows them by
// their number of layers.
double default_attention_scale_in_gguf(const Config& c) {
  const bool gemma_27b = c.layers == (c.architecture == "gemma2" ? 46 : c.architecture == "gemma3" ? 62 : -1);
  return 1 / std::sqrt(gemma_27b ? double(c.hidden) / double(c.heads) : double(c.head_dim));
}

Config config_from_gguf(const io::ModelFiles& files) {
  const io::GgufMetadata& m = *files.gguf();
  Config c;
  c.architecture = std::string(m.get_string("general.architecture"));
  c.name = std::string(m.get_string("general.name", c.architecture));
  const Special* family = nullptr;
  for (const Special& s : special)
    if (s.architecture == c.architecture) family = &s;
  if (!family) {
    std::string known;
    for (const Special& s : special) known += (known.empty() ? "" : ", ") + std::string(s.architecture);
    fail_input("{}: the architecture '{}' is not supported; supported are {}", m.file(), c.architecture, known);
  }
  const Keys k(m, c.architecture);
  c.layers = k.size("block_count", most_layers);
  c.hidden = k.size("embedding_length");
  c.ffn = k.size("feed_forward_length");
  c.context = k.size("context_length");
  c.norm_eps =
      float(k.number_or("attention.layer_norm_rms_epsilon", k.number_or("attention.layer_norm_epsilon", 1e-5)));
  if (!(c.norm_eps > 0 && c.norm_eps < 1))
    fail_input("{}: the norm's epsilon is {}; accepted is more than 0 and less than 1", m.file(), c.norm_eps);
  read_attention(k, c);
  read_experts(k, c);
  c.rope.base = k.number_or("rope.freq_base", 10000);
  c.rope.dims = k.size_or("rope.dimension_count", c.head_dim);
  if (turns_pairs_in_gguf(c.architecture)) c.rope.style = op::RopeStyle::pairs;
  c.rope.scaling = read_scaling(k, c);
  if (!(c.rope.base > 0)) k.fail("rope.freq_base", fmt::format("is {}; accepted is more than 0", c.rope.base));
  if (c.rope.dims % 2 != 0 || c.rope.dims > c.head_dim)
    fail_input("{}: {} rotated dimensions; accepted is an even number up to the head's {}", m.file(), c.rope.dims,
               c.head_dim);
  family->read(k, c);

  const io::TensorEntry* table = files.find("token_embd.weight");
  if (!table || table->shape.size() != 2) fail_input("{}: there is no matrix 'token_embd.weight'", m.file());
  c.vocab = table->shape[0];
  if (const std::int64_t said = k.size_or("vocab_size", c.vocab); said != c.vocab)
    fail_input("{}: tensor 'token_embd.weight' has {} rows, key '{}.vocab_size' says {}", m.file(), c.vocab,
               c.architecture, said);
  k.check_all_read();
  return c;
}

}  // namespace ridge::model
