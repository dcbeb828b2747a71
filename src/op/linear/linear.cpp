#include "op/linear/linear.h"

#include "op/linear/kernels.h"
#include "op/shape_rules.h"

namespace ridge::op {
namespace {

std::vector<ir::ValueSpec> infer(const ir::Program& p, std::span<const ir::Value> in, const ir::Params& params) {
  const std::size_t n = std::size_t(params.as<LinearParams>().segments);
  expect(in.size() == 1 + 2 * n, "linear", "inputs must be x, then each segment's weight, then each one's bias");
  const Shape& x = p[in[0]].shape;
  std::vector<ir::ValueSpec> out;
  for (std::size_t s = 0; s < n; ++s) {
    const Shape& w = p[in[1 + s]].shape;
    expect(x.rank == 2 && w.rank == 2 && w[1] == x[1], "linear", "x must be (T, K) and the weight (N, K)");
    const ir::Value bias = in[1 + n + s];
    expect(!bias || (p[bias].shape.rank == 1 && p[bias].shape[0] == w[0]), "linear", "the bias must be (N)");
    out.push_back({DType::f32, {x[0], w[0]}});
  }
  return out;
}

// The fastest arithmetic that multiplies these operands as they are.
ir::Unit unit_of(DType x, DType weight) {
  if (x == DType::q8_act) return ir::Unit::int8;
  switch (weight) {
    case DType::bf16: return ir::Unit::bf16;
    case DType::f16: return ir::Unit::f16;
    case DType::f8_e4m3: return ir::Unit::f8;
    default: return ir::Unit::f32;
  }
}

ir::Cost cost(const ir::Program& p, const ir::Call& c) {
  ir::Cost cost{.read_bytes = bytes_of(p, c.in[0]), .unit = unit_of(p[c.in[0]].dtype, p[c.in[1]].dtype)};
  for (std::size_t i = 1; i < c.in.size(); ++i)
    if (c.in[i]) cost.weight_bytes += bytes_of(p, c.in[i]);
  for (ir::Value v : c.out) {
    cost.flops += elements_of(p, v, 2.0 * double(p[c.in[0]].shape[1].size));
    cost.write_bytes += bytes_of(p, v);
  }
  return cost;
}

std::string describe(const ir::Params& params) {
  const int n = params.as<LinearParams>().segments;
  return n == 1 ? "" : fmt::format("{} segments", n);
}

}  // namespace

const ir::OpInfo linear_op{
    .name = "linear", .infer = infer, .cost = cost, .choose = choose_linear, .describe = describe};

ir::Value linear(ir::Program& p, ir::Value x, ir::Value weight, ir::Value bias) {
  return p.record(linear_op, {x, weight, bias}, LinearParams{})[0];
}

}  // namespace ridge::op
