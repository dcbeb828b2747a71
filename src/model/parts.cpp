#include "model/parts.h"

#include "base/error.h"
#include "model/rope_frequencies.h"
#include "op/attention/attention.h"
#include "op/embedding/embedding.h"
#include "op/linear/linear.h"
#include "op/rms_norm/rms_norm.h"

namespace ridge::model {

static std::vector<float> floats_of(const Tensor& t) {
  if (t.shape.size() != 1) fail_input("{} must be one row of numbers", t.from);
  std::vector<float> values(std::size_t(t.shape[0]));
  info(t.dtype).decode(t.bytes.data(), values.data(), std::int64_t(values.size()));
  return values;
}

ir::Value linear(ir::Program& p, Weights& w, std::int64_t layer, std::string_view name, ir::Value x, std::initializer_list<std::int64_t> shape) {
  const auto scope = p.scope(name);
  const ir::Value weight = w(layer, name, shape);
  return op::linear(p, x, weight, w.optional(layer, fmt::format("{}.bias", name), {*shape.begin()}));
}

ir::Value norm(ir::Program& p, const Config& c, Weights& w, std::int64_t layer, std::string_view name, ir::Value x, std::int64_t length) {
  return op::rms_norm(p, x, w(layer, name, {length}), {c.norm_eps, c.norm_offset});
}

ir::Value embed(ir::Program& p, const Config& c, Weights& w, const Batch& b) {
  return op::embedding(p, b.tokens, w("token_embd", {c.vocab, c.hidden}), {c.embedding_scale});
}

ir::Value rope_angles(ir::Program& p, const Rope& rope, Weights& w, const Batch& b) {
  const std::optional<Tensor> factors = w.raw("rope_freqs");
  const RopeFrequencies f = rope_frequencies(rope, b.context, factors ? floats_of(*factors) : std::vector<float>{});
  return op::rope_angles(p, b.positions, w.constant("rope_frequencies", f.values), {.scale = f.scale});
}

Heads project(ir::Program& p, const Config& c, Weights& w, std::int64_t layer, ir::Value x) {
  return {linear(p, w, layer, "attn_q", x, {c.q_columns(), c.hidden}), linear(p, w, layer, "attn_k", x, {c.kv_columns(), c.hidden}),
          linear(p, w, layer, "attn_v", x, {c.kv_columns(), c.hidden})};
}

Heads rotated(ir::Program& p, const Config& c, Heads h, ir::Value angles) {
  const op::RopeParams params{int(c.head_dim), c.rope.style};
  return {op::rope(p, h.q, angles, params), op::rope(p, h.k, angles, params), h.v};
}

ir::Value attend(ir::Program& p, const Config& c, Weights& w, Batch& b, std::int64_t layer, const Heads& h) {
  const ir::Value kv = b.store(p, std::size_t(layer), h.k, h.v);  // the next version of this layer's state
  const ir::Value a = op::attention(p, h.q, kv, b.sequences,
                                    {.head_dim = int(c.head_dim), .scale = c.attention_scale, .window = c.window(layer), .softcap = c.attention_softcap});
  return linear(p, w, layer, "attn_output", a, {c.hidden, c.q_columns()});
}

ir::Value gated_ffn(ir::Program& p, const Config& c, Weights& w, std::int64_t layer, ir::Value x, op::GateKind kind) {
  const ir::Value gate = linear(p, w, layer, "ffn_gate", x, {c.ffn, c.hidden});  // (T, F)
  const ir::Value up = linear(p, w, layer, "ffn_up", x, {c.ffn, c.hidden});      // (T, F)
  return linear(p, w, layer, "ffn_down", op::silu_gate(p, gate, up, {kind}), {c.hidden, c.ffn});
}

ir::Value logits(ir::Program& p, const Config& c, Weights& w, ir::Value x) {
  const ir::Value own = w.optional("output", {c.vocab, c.hidden});
  return op::linear(p, x, own ? own : w("token_embd", {c.vocab, c.hidden}), w.optional("output.bias", {c.vocab}));
}

}  // namespace ridge::model
