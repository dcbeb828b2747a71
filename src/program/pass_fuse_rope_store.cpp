// rope(q), rope(k) and kv_store become one call on GPUs, where each small kernel costs a boundary of a microsecond.
#include "op/kv_store/kv_store.h"
#include "op/rope/rope.h"
#include "op/rope_store/rope_store.h"
#include "program/passes.h"

namespace ridge::program {
namespace {

bool same_rope(const ir::Call& a, const ir::Call& b) {
  const auto &p = a.params.as<op::RopeParams>(), &q = b.params.as<op::RopeParams>();
  return a.in[1] == b.in[1] && p.head_dim == q.head_dim && p.style == q.style;
}

}  // namespace

void fuse_rope_store(ir::Program& p, const ir::Target& target) {
  if (target.device != ir::Device::cuda) return;
  const auto read_by = readers(p);
  std::vector<ir::Call> calls = p.take_calls();
  std::vector<bool> dropped(calls.size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    ir::Call& store = calls[i];
    if (store.op != &op::kv_store_op) continue;
    const ir::Value k = store.in[1];
    if (p[k].producer < 0 || read_by[std::size_t(k.id)].size() != 1) continue;
    const ir::Call& rope_k = calls[std::size_t(p[k].producer)];
    if (rope_k.op != &op::rope_op) continue;
    // The attention that reads this state reads the q that goes with it.
    const std::vector<std::size_t>& readers_of_state = read_by[std::size_t(store.out[0].id)];
    if (readers_of_state.size() != 1) continue;
    const ir::Value q = calls[readers_of_state[0]].in[0];
    if (p[q].producer < 0) continue;
    const std::size_t rope_q_at = std::size_t(p[q].producer);
    const ir::Call& rope_q = calls[rope_q_at];
    // No reader of the rotated q may come before the store.
    if (rope_q.op != &op::rope_op || rope_q_at > i || !same_rope(rope_q, rope_k) ||
        read_by[std::size_t(q.id)].front() < i)
      continue;
    const std::size_t rope_k_at = std::size_t(p[k].producer);
    ir::Call fused{.id = store.id,
                   .op = &op::rope_store_op,
                   .in = {rope_q.in[0], rope_k.in[0], store.in[2], rope_q.in[1], store.in[3], store.in[0]},
                   .out = {q, store.out[0]},
                   .params = rope_q.params,
                   .where = store.where,
                   .covers = store.covers};
    fused.covers.push_back(rope_q.id), fused.covers.push_back(rope_k.id);
    dropped[rope_q_at] = dropped[rope_k_at] = true;
    store = std::move(fused);
  }
  std::vector<ir::Call> kept;
  for (std::size_t i = 0; i < calls.size(); ++i)
    if (!dropped[i]) kept.push_back(std::move(calls[i]));
  p.replace_calls(std::move(kept));
}

}  // namespace ridge::program
