// OLMo 2 (OLMo Team 2024): norms after attention and feed-forward instead of before, and of all query and key heads
// together before their rotation.
#include "model/families.h"
#include "model/parts.h"
#include "op/add/add.h"
#include "op/rms_norm/rms_norm.h"
#include "op/select_rows/select_rows.h"

namespace ridge::model {

ir::Value olmo2(ir::Program& p, const Config& c, Weights& w, Batch& b) {
  const std::int64_t D = c.hidden;
  const ir::Value angles = rope_angles(p, c.rope, w, b);
  ir::Value x = embed(p, c, w, b);  // (T, D)
  for (std::int64_t l = 0; l < c.layers; ++l) {
    const auto layer = p.scope("layer", int(l));
    {
      const auto attention = p.scope("attention");
      Heads heads = project(p, c, w, l, x);
      heads.q = norm(p, c, w, l, "attn_q_norm", heads.q, c.q_columns());
      heads.k = norm(p, c, w, l, "attn_k_norm", heads.k, c.kv_columns());
      const ir::Value a = attend(p, c, w, b, l, rotated(p, c, heads, angles));
      x = op::add(p, x, norm(p, c, w, l, "post_attention_norm", a, D));
    }
    const auto ffn = p.scope("ffn");
    x = op::add(p, x, norm(p, c, w, l, "post_ffw_norm", gated_ffn(p, c, w, l, x), D));
  }
  const auto head = p.scope("head");
  x = op::rms_norm(p, op::select_rows(p, x, b.wanted), w("output_norm", {D}), {c.norm_eps});
  return logits(p, c, w, x);  // (R, V)
}

}  // namespace ridge::model
