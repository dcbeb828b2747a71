// Gemma 3 (Gemma Team 2025), its text model: Gemma 2 with normalized query and key heads instead of caps, and with
// another rope for windowed layers.
#include "model/families.h"
#include "model/parts.h"
#include "op/add/add.h"
#include "op/rms_norm/rms_norm.h"
#include "op/select_rows/select_rows.h"

namespace ridge::model {

ir::Value gemma3(ir::Program& p, const Config& c, Weights& w, Batch& b) {
  const std::int64_t D = c.hidden;
  const ir::Value far = rope_angles(p, c.rope, w, b), near = rope_angles(p, *c.local_rope, w, b);
  ir::Value x = embed(p, c, w, b);  // (T, D)
  for (std::int64_t l = 0; l < c.layers; ++l) {
    const auto layer = p.scope("layer", int(l));
    {
      const auto attention = p.scope("attention");
      Heads heads = project(p, c, w, l, norm(p, c, w, l, "attn_norm", x, D));
      heads.q = norm(p, c, w, l, "attn_q_norm", heads.q, c.head_dim);
      heads.k = norm(p, c, w, l, "attn_k_norm", heads.k, c.head_dim);
      heads = rotated(p, c, heads, c.is_windowed(l) ? near : far);
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
