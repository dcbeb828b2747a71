// Llama (Touvron et al. 2023) and what shares its forward pass: Llama 2 and 3.x, SmolLM2, Mistral.
#include "model/families.h"
#include "op/add/add.h"
#include "op/embedding/embedding.h"
#include "op/linear/linear.h"
#include "op/rms_norm/rms_norm.h"
#include "op/select_rows/select_rows.h"
#include "op/silu_gate/silu_gate.h"

namespace ridge::model {

ir::Value llama(ir::Program& p, const Config& c, Weights& w, Batch& b) {
  const std::int64_t D = c.hidden, Q = c.q_columns(), KV = c.kv_columns(), F = c.ffn;
  const int head_dim = int(c.head_dim);
  const ir::Value table = w("token_embd", {c.vocab, D});
  const ir::Value angles = rope_angles(p, c, w, b);                                   // (T, rotated): cosines, sines

  ir::Value x = op::embedding(p, b.tokens, table);                                    // (T, D)
  for (std::int64_t l = 0; l < c.layers; ++l) {
    const auto layer = p.scope("layer", int(l));
    {
      const auto attention = p.scope("attention");
      const ir::Value h = op::rms_norm(p, x, w(l, "attn_norm", {D}), {c.norm_eps});
      ir::Value q = linear(p, w, l, "attn_q", h, {Q, D});                             // (T, Q)
      ir::Value k = linear(p, w, l, "attn_k", h, {KV, D});                            // (T, KV)
      const ir::Value v = linear(p, w, l, "attn_v", h, {KV, D});                      // (T, KV)
      q = op::rope(p, q, angles, {head_dim, c.rope.style});
      k = op::rope(p, k, angles, {head_dim, c.rope.style});
      const ir::Value kv = b.store(p, std::size_t(l), k, v);                          // the next version of this layer's state
      const ir::Value a = op::attention(p, q, kv, b.sequences, {.head_dim = head_dim, .scale = c.attention_scale, .window = c.window});
      x = op::add(p, x, linear(p, w, l, "attn_output", a, {D, Q}));
    }
    const auto ffn = p.scope("ffn");
    const ir::Value h = op::rms_norm(p, x, w(l, "ffn_norm", {D}), {c.norm_eps});
    const ir::Value gate = linear(p, w, l, "ffn_gate", h, {F, D});                    // (T, F)
    const ir::Value up = linear(p, w, l, "ffn_up", h, {F, D});                        // (T, F)
    x = op::add(p, x, linear(p, w, l, "ffn_down", op::silu_gate(p, gate, up), {D, F}));
  }
  const auto head = p.scope("head");
  x = op::rms_norm(p, op::select_rows(p, x, b.wanted), w("output_norm", {D}), {c.norm_eps});
  const ir::Value own = w.optional("output", {c.vocab, D});                           // absent: tied to the embedding
  return op::linear(p, x, own ? own : table);                                         // (R, V)
}

}  // namespace ridge::model
