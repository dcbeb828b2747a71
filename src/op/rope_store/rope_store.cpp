#include "op/rope_store/rope_store.h"

#include <array>

#include "op/kv_store/kv_store.h"
#include "op/rope/rope.h"
#include "op/rope_store/kernels.h"
#include "op/shape_rules.h"

namespace ridge::op {
namespace {

std::vector<ir::ValueSpec> infer(const ir::Program& p, std::span<const ir::Value> in, const ir::Params& params) {
  expect(in.size() == 6, "rope_store", "inputs must be q, k, v, angles, slots, state");
  const std::array q{in[0], in[3]}, k{in[1], in[3]};
  const std::array store{in[5], in[1], in[2], in[4]};
  rope_op.infer(p, k, params);
  ir::ValueSpec state = kv_store_op.infer(p, store, {})[0];
  state.version_of = 5;
  return {rope_op.infer(p, q, params)[0], state};
}

ir::Cost cost(const ir::Program& p, const ir::Call& c) {
  const ir::ValueInfo& state = p[c.in[5]];
  const Shape& k = p[c.in[1]].shape;
  ir::Cost cost{.flops = elements_of(p, c.in[0], 3) + elements_of(p, c.in[1], 3),
                .write_bytes = bytes_of(p, c.out[0]) + per(k[0], 2.0 * double(row_bytes(state.dtype, k[1].size)))};
  for (std::size_t i = 0; i < 5; ++i) cost.read_bytes += bytes_of(p, c.in[i]);
  return cost;
}

ir::KernelChoice choose(const ir::Program&, const ir::Call&, const ir::Target&) {
  return {"rope_store/ref", "only GPUs' programs hold this call", rope_store_ref};
}

}  // namespace

const ir::OpInfo rope_store_op{.name = "rope_store", .infer = infer, .cost = cost, .choose = choose, .in_place = true};

}  // namespace ridge::op
