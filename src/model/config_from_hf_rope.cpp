#include <cmath>

#include "base/error.h"
#include "model/config_from_hf.h"

namespace ridge::model {
namespace {

class Keys {  // of one scaling: all in one object, names inside it
 public:
  Keys(const io::HfConfig& h, std::string_view object) : h_(h), prefix_(std::string(object) + ".") {}
  std::string key(std::string_view name) const { return prefix_ + std::string(name); }
  bool has(std::string_view name) const { return h_.has(key(name)); }
  double number(std::string_view name, double otherwise) const {
    return positive(name, h_.number(key(name), otherwise));
  }
  double number(std::string_view name) const { return positive(name, h_.number(key(name))); }
  bool truth(std::string_view name, bool otherwise) const { return h_.truth(key(name), otherwise); }
  std::string text(std::string_view name) const { return h_.text(key(name), ""); }
  std::vector<float> factors(std::string_view name, std::size_t count) const {
    std::vector<float> list;
    for (double v : h_.numbers(key(name))) list.push_back(float(positive(name, v)));
    if (list.size() != count)
      h_.fail(key(name), fmt::format("has {} factors; the model rotates {} pairs", list.size(), count));
    return list;
  }
  [[noreturn]] void fail(std::string_view name, const std::string& message) const { h_.fail(key(name), message); }

 private:
  double positive(std::string_view name, double value) const {
    if (!(value > 0) || !std::isfinite(value)) h_.fail(key(name), fmt::format("is {}; accepted is more than 0", value));
    return value;
  }
  const io::HfConfig& h_;
  std::string prefix_;
};

// "rope_type" in newer files, "type" in older ones; "su" is longrope's first name.
RopeScaling::Kind kind_of(const Keys& k) {
  using Kind = RopeScaling::Kind;
  const std::string older = k.text("type"), newer = k.text("rope_type");
  const std::string& type = newer.empty() ? older : newer;
  if (type.empty() || type == "default") return Kind::none;
  if (type == "linear") return Kind::linear;
  if (type == "llama3") return Kind::llama3;
  if (type == "yarn") return Kind::yarn;
  if (type == "longrope" || type == "su") return Kind::longrope;
  k.fail(newer.empty() ? "type" : "rope_type",
         fmt::format("is '{}'; supported are default, linear, llama3, yarn, longrope", type));
}

// The trained context: inside the scaling, or beside it (Phi-3).
std::int64_t original_context(const io::HfConfig& h, const Keys& k, const Config& c) {
  constexpr std::string_view name = "original_max_position_embeddings";
  const std::int64_t beside = h.integer(name, c.context), n = h.integer(k.key(name), beside);
  if (n < 1 || n > most_size) k.fail(name, fmt::format("is {}; accepted is 1 to 2^31", n));
  return n;
}

RopeScaling read_scaling(const io::HfConfig& h, const Keys& k, const Config& c, std::int64_t pairs) {
  using Kind = RopeScaling::Kind;
  RopeScaling s;
  s.kind = kind_of(k);
  if (s.kind == Kind::none) return s;
  if (s.kind != Kind::linear) s.original_context = original_context(h, k, c);
  const double longer = s.original_context > 0 ? double(c.context) / double(s.original_context) : 1;
  s.factor = s.kind == Kind::longrope || s.kind == Kind::yarn ? k.number("factor", longer) : k.number("factor");
  if (s.kind == Kind::llama3) {
    s.low_freq_factor = k.number("low_freq_factor");
    s.high_freq_factor = k.number("high_freq_factor");
    if (s.high_freq_factor <= s.low_freq_factor) k.fail("high_freq_factor", "must be more than low_freq_factor");
  }
  if (s.kind == Kind::yarn) {
    s.beta_fast = k.number("beta_fast", s.beta_fast);
    s.beta_slow = k.number("beta_slow", s.beta_slow);
    if (k.has("mscale")) s.mscale = k.number("mscale");
    if (k.has("mscale_all_dim")) s.mscale_all_dim = k.number("mscale_all_dim");
    s.truncate = k.truth("truncate", true);
  }
  if (s.kind == Kind::longrope) {
    s.short_factors = k.factors("short_factor", std::size_t(pairs));
    s.long_factors = k.factors("long_factor", std::size_t(pairs));
  }
  if ((s.kind == Kind::yarn || s.kind == Kind::longrope) && k.has("attention_factor"))
    s.attention_factor = k.number("attention_factor");
  return s;
}

}  // namespace

Rope rope_from_hf(const io::HfConfig& h, std::string_view object, const Config& c) {
  const Keys k(h, object);
  Rope rope;
  rope.base = k.number("rope_theta", h.number("rope_theta", 10000));
  const double part = k.number("partial_rotary_factor", h.number("partial_rotary_factor", 1));
  rope.dims = std::int64_t(double(c.head_dim) * part);
  if (part > 1 || rope.dims < 2 || rope.dims % 2 != 0)
    h.fail("partial_rotary_factor",
           fmt::format("makes {} rotated of {} elements of a head; accepted is an even number from 2", rope.dims,
                       c.head_dim));
  rope.scaling = read_scaling(h, k, c, rope.dims / 2);
  return rope;
}

}  // namespace ridge::model
