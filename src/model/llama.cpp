// Llama (Touvron et al. 2023) and the families that compute the same and differ in what their files say: Llama 2
// and 3.x, SmolLM2, Mistral (a window), Mixtral (experts), Qwen2 (biases), Phi-3 (fused weights, part of a head
// rotated), Granite (multipliers).
#include "model/families.h"
#include "model/parts.h"
#include "op/add/add.h"
#include "op/rms_norm/rms_norm.h"
#include "op/select_rows/select_rows.h"

namespace ridge::model {

ir::Value llama(ir::Program& p, const Config& c, Weights& w, Batch& b) {
  const std::int64_t D = c.hidden;
  const ir::Value angles = rope_angles(p, c.rope, w, b);
  ir::Value x = embed(p, c, w, b);  // (T, D)
  for (std::int64_t l = 0; l < c.layers; ++l) {
    const auto layer = p.scope("layer", int(l));
    {
      const auto attention = p.scope("attention");
      const ir::Value h = norm(p, c, w, l, "attn_norm", x, D);
      const Heads heads = rotated(p, c, project(p, c, w, l, h), angles);
      x = op::add(p, x, attend(p, c, w, b, l, heads), {c.residual_scale});
    }
    const auto ffn = p.scope("ffn");
    const ir::Value h = norm(p, c, w, l, "ffn_norm", x, D);
    x = op::add(p, x, c.experts > 0 ? routed_ffn(p, c, w, l, h) : gated_ffn(p, c, w, l, h), {c.residual_scale});
  }
  const auto head = p.scope("head");
  x = op::rms_norm(p, op::select_rows(p, x, b.wanted), w("output_norm", {D}), {c.norm_eps});
  return logits(p, c, w, x);  // (R, V)
}

}  // namespace ridge::model
