// GPT-2 (Radford et al. 2019): learned positions, LayerNorm, biases everywhere, no gate.
#include "model/families.h"
#include "model/parts.h"
#include "op/add/add.h"
#include "op/embedding/embedding.h"
#include "op/layer_norm/layer_norm.h"
#include "op/select_rows/select_rows.h"
#include "op/unary/unary.h"

namespace ridge::model {

ir::Value gpt2(ir::Program& p, const Config& c, Weights& w, Batch& b) {
  const std::int64_t D = c.hidden, F = c.ffn;
  const auto layer_norm = [&](const std::string& name, ir::Value x) {
    return op::layer_norm(p, x, w(name, {D}), w.optional(name + ".bias", {D}), {c.norm_eps});
  };
  const ir::Value places = op::embedding(p, b.positions, w("position_embd", {c.context, D}));
  ir::Value x = op::add(p, embed(p, c, w, b), places);  // (T, D)
  for (std::int64_t l = 0; l < c.layers; ++l) {
    const auto layer = p.scope("layer", int(l));
    const std::string blk = fmt::format("blk.{}.", l);
    {
      const auto attention = p.scope("attention");
      const Heads heads = project(p, c, w, l, layer_norm(blk + "attn_norm", x));
      x = op::add(p, x, attend(p, c, w, b, l, heads));
    }
    const auto ffn = p.scope("ffn");
    const ir::Value up = linear(p, w, l, "ffn_up", layer_norm(blk + "ffn_norm", x), {F, D});
    x = op::add(p, x, linear(p, w, l, "ffn_down", op::unary(p, up, {op::UnaryKind::gelu_tanh}), {D, F}));
  }
  const auto head = p.scope("head");
  x = layer_norm("output_norm", op::select_rows(p, x, b.wanted));
  return logits(p, c, w, x);  // (R, V)
}

}  // namespace ridge::model
