// Gemma 2 (Gemma Team 2024): norms before and after, scaled embedding, capped scores and logits, every other layer
// windowed.
#include "model/families.h"
#include "model/parts.h"
#include "op/add/add.h"
#include "op/rms_norm/rms_norm.h"
#include "op/select_rows/select_rows.h"

namespace ridge::model {

ir::Value gemma2(ir::Program& p, const Config& c, Weights& w, Batch& b) {
  const std::int64_t D = c.hidden;
  const ir::Value angles = rope_angles(p, c.rope, w, b);
  ir::Value x = embed(p, c, w, b);  // (T, D)
  for (std::int64_t l = 0; l < c.layers; ++l) {
    const auto layer = p.scope("layer", int(l));
    {
      const auto attention = p.scope("attention");
      const Heads heads = rotated(p, c, project(p, c, w, l, norm(p, c, w, l, "attn_norm", x, D)), angles);
      x = op::add(p, x, norm(p, c, w, l, "post_attention_norm", attend(p, c, w, b, l, heads), D));
    }
    const auto ffn = p.scope("ffn");
    const ir::Value y = gated_ffn(p, c, w, l, norm(p, c, w, l, "ffn_norm", x, D), op::GateKind::gelu_tanh);
    x = op::add(p, x, norm(p, c, w, l, "post_ffw_norm", y, D));
  }
  const auto head = p.scope("head");
  x = op::rms_norm(p, op::select_rows(p, x, b.wanted), w("output_norm", {D}), {c.norm_eps, c.norm_offset});
  return logits(p, c, w, x);  // (R, V)
}

}  // namespace ridge::model
