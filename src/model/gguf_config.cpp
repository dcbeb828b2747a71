#include "model/gguf_config.h"

#include <cmath>

#include "base/error.h"

namespace ridge::model {
namespace {

class Keys {  // "llama.block_count" and the like: keys begin with the architecture's name
 public:
  Keys(const io::GgufMetadata& m, std::string architecture) : m_(m), prefix_(std::move(architecture) + ".") {}
  std::string key(std::string_view name) const { return prefix_ + std::string(name); }
  bool has(std::string_view name) const { return m_.has(key(name)); }
  // A size: at least `least`, at most 2^31.
  std::int64_t size(std::string_view name, std::int64_t least = 1) const { return check(name, m_.get_i64(key(name)), least); }
  std::int64_t size_or(std::string_view name, std::int64_t otherwise) const { return check(name, m_.get_i64(key(name), otherwise), 0); }
  double number(std::string_view name) const { return m_.get_f64(key(name)); }
  double number_or(std::string_view name, double otherwise) const { return m_.get_f64(key(name), otherwise); }
  std::string text_or(std::string_view name, std::string_view otherwise) const { return std::string(m_.get_string(key(name), otherwise)); }

 private:
  std::int64_t check(std::string_view name, std::int64_t value, std::int64_t least) const {
    if (value < least || value > (std::int64_t(1) << 31))
      fail_input("{}: key '{}' is {}; accepted is {} to 2^31", m_.file(), key(name), value, least);
    return value;
  }
  const io::GgufMetadata& m_;
  std::string prefix_;
};

RopeScaling read_scaling(const Keys& k, const std::string& file) {
  RopeScaling s;
  const std::string type = k.text_or("rope.scaling.type", k.has("rope.scale_linear") ? "linear" : "none");
  s.factor = k.number_or("rope.scaling.factor", k.number_or("rope.scale_linear", 1));
  s.original_context = k.size_or("rope.scaling.original_context_length", 0);
  if (type == "none") return s;
  if (type == "linear") s.kind = RopeScaling::Kind::linear;
  else if (type == "yarn") s.kind = RopeScaling::Kind::yarn;
  else if (type == "longrope") s.kind = RopeScaling::Kind::longrope;
  else fail_input("{}: rope scaling '{}' is not supported; supported are none, linear, yarn, longrope", file, type);
  return s;
}

}  // namespace

Config config_from_gguf(const io::ModelFiles& files) {
  const io::GgufMetadata& m = *files.gguf();
  Config c;
  c.architecture = std::string(m.get_string("general.architecture"));
  c.name = std::string(m.get_string("general.name", c.architecture));
  const Keys k(m, c.architecture);
  c.layers = k.size("block_count");
  c.hidden = k.size("embedding_length");
  c.ffn = k.size("feed_forward_length");
  c.heads = k.size("attention.head_count");
  c.kv_heads = k.size_or("attention.head_count_kv", c.heads);
  c.context = k.size("context_length");
  c.norm_eps = float(k.number_or("attention.layer_norm_rms_epsilon", k.number_or("attention.layer_norm_epsilon", 1e-5)));
  if (c.kv_heads < 1 || c.heads % c.kv_heads != 0)
    fail_input("{}: {} kv heads do not divide {} heads", m.file(), c.kv_heads, c.heads);
  c.head_dim = k.size_or("attention.key_length", c.hidden / c.heads);
  if (c.head_dim < 1 || k.size_or("attention.value_length", c.head_dim) != c.head_dim)
    fail_input("{}: keys and values of different lengths are not supported", m.file());
  c.attention_scale = float(1.0 / std::sqrt(double(c.head_dim)));
  c.window = k.size_or("attention.sliding_window", 0);
  c.rope.base = k.number_or("rope.freq_base", 10000);
  c.rope.dims = k.size_or("rope.dimension_count", c.head_dim);
  c.rope.style = op::RopeStyle::pairs;  // llama files permute q and k for it
  c.rope.scaling = read_scaling(k, m.file());
  if (c.rope.dims % 2 != 0 || c.rope.dims > c.head_dim)
    fail_input("{}: {} rotated dimensions; accepted is an even number up to the head's {}", m.file(), c.rope.dims, c.head_dim);
  const io::TensorEntry* table = files.find("token_embd.weight");
  if (!table || table->shape.size() != 2) fail_input("{}: there is no matrix 'token_embd.weight'", m.file());
  c.vocab = table->shape[0];
  return c;
}

}  // namespace ridge::model
