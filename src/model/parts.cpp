#include "model/parts.h"

#include "base/error.h"
#include "model/rope_frequencies.h"
#include "op/attention/attention.h"
#include "op/embedding/embedding.h"
#include "op/expert_linear/expert_linear.h"
#include "op/linear/linear.h"
#include "op/rms_norm/rms_norm.h"
#include "op/route/route.h"
#include "op/scale_columns/scale_columns.h"
#include "op/unary/unary.h"

namespace ridge::model {

static std::vector<float> floats_of(const Tensor& t) {
  if (t.shape.size() != 1) fail_input("{} must be one row of numbers", t.from);
  std::vector<float> values(std::size_t(t.shape[0]));
  info(t.dtype).decode(t.bytes.data(), values.data(), std::int64_t(values.size()));
  return values;
}

ir::Value linear(ir::Program& p, Weights& w, std::int64_t layer, std::string_view name, ir::Value x,
                 std::initializer_list<std::int64_t> shape) {
  const auto scope = p.scope(name);
  const std::int64_t rows = *shape.begin();
  const ir::Value weight = w(layer, name, shape), bias = w.optional(layer, fmt::format("{}.bias", name), {rows});
  const std::string scale = fmt::format("blk.{}.{}.scale", layer, name);  // of FP8 weights: one, or one for each row
  const std::optional<Tensor> scales = w.raw(scale);
  if (!scales) return op::linear(p, x, weight, bias);
  return op::scale_columns(p, op::linear(p, x, weight),
                           w(scale, {scales->shape == std::vector<std::int64_t>{1} ? 1 : rows}), bias);
}

ir::Value norm(ir::Program& p, const Config& c, Weights& w, std::int64_t layer, std::string_view name, ir::Value x,
               std::int64_t length) {
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
  return {linear(p, w, layer, "attn_q", x, {c.q_columns(), c.hidden}),
          linear(p, w, layer, "attn_k", x, {c.kv_columns(), c.hidden}),
          linear(p, w, layer, "attn_v", x, {c.kv_columns(), c.hidden})};
}

Heads rotated(ir::Program& p, const Config& c, Heads h, ir::Value angles) {
  const op::RopeParams params{int(c.head_dim), c.rope.style};
  return {op::rope(p, h.q, angles, params), op::rope(p, h.k, angles, params), h.v};
}

ir::Value attend(ir::Program& p, const Config& c, Weights& w, Batch& b, std::int64_t layer, const Heads& h) {
  const ir::Value kv = b.store(p, std::size_t(layer), h.k, h.v);  // the next version of this layer's state
  const ir::Value a = op::attention(p, h.q, kv, b.sequences,
                                    {.head_dim = int(c.head_dim),
                                     .scale = c.attention_scale,
                                     .window = c.window(layer),
                                     .softcap = c.attention_softcap});
  return linear(p, w, layer, "attn_output", a, {c.hidden, c.q_columns()});
}

ir::Value gated_ffn(ir::Program& p, const Config& c, Weights& w, std::int64_t layer, ir::Value x, op::GateKind kind) {
  const ir::Value gate = linear(p, w, layer, "ffn_gate", x, {c.ffn, c.hidden});  // (T, F)
  const ir::Value up = linear(p, w, layer, "ffn_up", x, {c.ffn, c.hidden});      // (T, F)
  return linear(p, w, layer, "ffn_down", op::silu_gate(p, gate, up, {kind}), {c.hidden, c.ffn});
}

ir::Value routed_ffn(ir::Program& p, const Config& c, Weights& w, std::int64_t layer, ir::Value x) {
  const std::int64_t E = c.experts, D = c.hidden, F = c.expert_ffn;
  const auto weights = c.normalize_routes ? op::RouteWeights::normalized : op::RouteWeights::probabilities;
  const op::Routes routes =
      op::route(p, linear(p, w, layer, "ffn_gate_inp", x, {E, D}), {int(c.experts_used), weights});  // (T, k)
  const auto product = [&](std::string_view name, ir::Value in, ir::Value mix, std::int64_t rows,
                           std::int64_t columns) {
    const auto scope = p.scope(name);
    const ir::Value weight = w(layer, name, {E, rows, columns});
    return mix ? op::expert_linear_mixed(p, in, routes.experts, weight, mix)
               : op::expert_linear(p, in, routes.experts, weight);
  };
  const ir::Value gate = product("ffn_gate_exps", x, {}, F, D), up = product("ffn_up_exps", x, {}, F, D);  // (T, k F)
  return product("ffn_down_exps", op::silu_gate(p, gate, up), routes.weights, D, F);
}

ir::Value logits(ir::Program& p, const Config& c, Weights& w, ir::Value x) {
  const ir::Value own = w.optional("output", {c.vocab, c.hidden});
  ir::Value y =
      op::linear(p, x, own ? own : w("token_embd", {c.vocab, c.hidden}), w.optional("output.bias", {c.vocab}));
  if (c.logit_scale != 1) y = op::unary(p, y, {op::UnaryKind::scale, c.logit_scale});
  if (c.logit_softcap != 0) y = op::unary(p, y, {op::UnaryKind::softcap, c.logit_softcap});
  return y;
}

}  // namespace ridge::model
