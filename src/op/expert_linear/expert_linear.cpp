#include "op/expert_linear/expert_linear.h"

#include "op/expert_linear/kernels.h"
#include "op/shape_rules.h"

namespace ridge::op {
namespace {

std::vector<ir::ValueSpec> infer(const ir::Program& p, std::span<const ir::Value> in, const ir::Params&) {
  const Shape &x = p[in[0]].shape, &experts = p[in[1]].shape, &w = p[in[2]].shape;
  const bool mixed = bool(in[3]);
  expect(in.size() == 4 && experts.rank == 2 && experts[0] == x[0] && p[in[1]].dtype == DType::i32, "expert_linear",
         "experts must be (T, k) i32");
  const std::int64_t used = experts[1].size;
  expect(x.rank == 2 && w.rank == 3 && x[1].size == w[2].size * (mixed ? used : 1), "expert_linear",
         "the weight must be (E, N, K), and x (T, K), or (T, k K) where products are mixed");
  expect(!mixed || (p[in[3]].shape == experts && p[in[3]].dtype == DType::f32), "expert_linear",
         "mix must be (T, k) f32");
  return {{DType::f32, {x[0], w[1].size * (mixed ? 1 : used)}}};
}

// Of the weight, as many experts as the step's tokens are expected to meet.
ir::Cost cost(const ir::Program& p, const ir::Call& c) {
  const ir::ValueInfo &x = p[c.in[0]], &w = p[c.in[2]];
  const double outputs = double(w.shape[1].size), inputs = double(w.shape[2].size),
               used = double(p[c.in[1]].shape[1].size);
  const bool q8 = x.dtype == DType::q8_act;
  ir::Cost cost{.flops = per(x.shape[0], 2 * used * outputs * inputs),
                .weight_bytes = {ir::Term::experts, outputs * double(row_bytes(w.dtype, w.shape[2].size))},
                .read_bytes = bytes_of(p, c.in[0]) + bytes_of(p, c.in[1]),
                .write_bytes = bytes_of(p, c.out[0]),
                .unit = q8                       ? ir::Unit::int8
                        : w.dtype == DType::bf16 ? ir::Unit::bf16
                        : w.dtype == DType::f16  ? ir::Unit::f16
                                                 : ir::Unit::f32};
  if (c.in[3]) cost.read_bytes += bytes_of(p, c.in[3]);
  return cost;
}

}  // namespace

const ir::OpInfo expert_linear_op{
    .name = "expert_linear", .infer = infer, .cost = cost, .choose = choose_expert_linear};

ir::Value expert_linear(ir::Program& p, ir::Value x, ir::Value experts, ir::Value weight) {
  return p.record(expert_linear_op, {x, experts, weight, {}}, ExpertLinearParams{})[0];
}
ir::Value expert_linear_mixed(ir::Program& p, ir::Value x, ir::Value experts, ir::Value weight, ir::Value mix) {
  return p.record(expert_linear_op, {x, experts, weight, mix}, ExpertLinearParams{})[0];
}

}  // namespace ridge::op
