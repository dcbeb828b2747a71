// Qwen3 (Yang et al. 2025): Llama with an RMSNorm of each query and key head before its rotation; Qwen3-MoE with routed
// experts.
#include "model/families.h"
#include "model/parts.h"
#include "op/add/add.h"
#include "op/rms_norm/rms_norm.h"
#include "op/select_rows/select_rows.h"

namespace ridge::model {

ir::Value qwen3(ir::Program& p, const Config& c, Weights& w, Batch& b) {
  const std::int64_t D = c.hidden;
  const ir::Value angles = rope_angles(p, c.rope, w, b);
  ir::Value x = embed(p, c, w, b);  // (T, D)
  for (std::int64_t l = 0; l < c.layers; ++l) {
    const auto layer = p.scope("layer", int(l));
    {
      const auto attention = p.scope("attention");
      Heads heads = project(p, c, w, l, norm(p, c, w, l, "attn_norm", x, D));
      heads.q = norm(p, c, w, l, "attn_q_norm", heads.q, c.head_dim);
      heads.k = norm(p, c, w, l, "attn_k_norm", heads.k, c.head_dim);
      x = op::add(p, x, attend(p, c, w, b, l, rotated(p, c, heads, angles)));
    }
    const auto ffn = p.scope("ffn");
    const ir::Value h = norm(p, c, w, l, "ffn_norm", x, D);
    x = op::add(p, x, c.experts > 0 ? routed_ffn(p, c, w, l, h) : gated_ffn(p, c, w, l, h));
  }
  const auto head = p.scope("head");
  x = op::rms_norm(p, op::select_rows(p, x, b.wanted), w("output_norm", {D}), {c.norm_eps});
  return logits(p, c, w, x);  // (R, V)
}

}  // namespace ridge::model
