#include "op/fused_linear/fused_linear.h"

#include "op/fused_linear/kernels.h"
#include "op/shape_rules.h"

namespace ridge::op {
namespace {

constexpr std::size_t first_weight = 3;

std::vector<ir::ValueSpec> infer(const ir::Program& p, std::span<const ir::Value> in, const ir::Params& params) {
  const auto& f = params.as<FusedLinearParams>();
  const std::size_t n = std::size_t(f.segments);
  expect(in.size() == first_weight + 2 * n, "fused_linear",
         "inputs must be x, norm, residual, each segment's weight, each one's bias");
  const Shape& x = p[in[0]].shape;
  expect(x.rank == 2 && p[in[0]].dtype == DType::f32, "fused_linear", "x must be (T, K) f32");
  expect(bool(in[1]) == f.norm && (!f.norm || p[in[1]].shape == Shape{x[1]}), "fused_linear",
         "the norm's weight must be (K)");
  std::vector<ir::ValueSpec> out;
  for (std::size_t s = 0; s < n; ++s) {
    const Shape& w = p[in[first_weight + s]].shape;
    expect(w.rank == 2 && w[1] == x[1], "fused_linear", "the weight must be (N, K)");
    out.push_back({DType::f32, {x[0], w[0]}});
  }
  if (f.finish == Finish::add)
    expect(n == 1 && in[2] && p[in[2]].shape == out[0].shape, "fused_linear", "the residual must be (T, N)");
  if (f.finish == Finish::gate) {
    expect(n == 2 && out[0].shape == out[1].shape, "fused_linear", "a gate takes two segments of equal rows");
    out.pop_back();
  }
  return out;
}

ir::Unit unit_of(const FusedLinearParams& f, DType weight) {
  if (f.quantize) return ir::Unit::int8;
  return weight == DType::bf16      ? ir::Unit::bf16
         : weight == DType::f16     ? ir::Unit::f16
         : weight == DType::f8_e4m3 ? ir::Unit::f8
                                    : ir::Unit::f32;
}

ir::Cost cost(const ir::Program& p, const ir::Call& c) {
  const auto& f = c.params.as<FusedLinearParams>();
  ir::Cost cost{.read_bytes = bytes_of(p, c.in[0]), .unit = unit_of(f, p[c.in[first_weight]].dtype)};
  if (c.in[2]) cost.read_bytes += bytes_of(p, c.in[2]);
  if (c.in[1]) cost.weight_bytes += bytes_of(p, c.in[1]);
  const Shape& x = p[c.in[0]].shape;
  for (std::size_t i = first_weight; i < c.in.size(); ++i) {
    if (!c.in[i]) continue;
    cost.weight_bytes += bytes_of(p, c.in[i]);
    const Shape& w = p[c.in[i]].shape;
    if (w.rank == 2) cost.flops += per(x[0], 2.0 * double(w[0].size) * double(w[1].size));
  }
  for (ir::Value v : c.out) cost.write_bytes += bytes_of(p, v);
  return cost;
}

ir::KernelChoice choose(const ir::Program&, const ir::Call&, const ir::Target&) {
  return {"fused_linear/ref", "only GPUs' programs hold this call", fused_linear_ref};
}

std::string describe(const ir::Params& params) {
  const auto& f = params.as<FusedLinearParams>();
  std::string text = f.segments == 1 ? "" : fmt::format("{} segments", f.segments);
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (f.norm) add(fmt::format("norm eps {}", f.eps));
  if (f.quantize) add("int8");
  if (f.finish == Finish::add) add(f.scale == 1 ? "+ residual" : fmt::format("{} + residual", f.scale));
  if (f.finish == Finish::gate) add("gate");
  return text;
}

}  // namespace

const ir::OpInfo fused_linear_op{
    .name = "fused_linear", .infer = infer, .cost = cost, .choose = choose, .describe = describe};

}  // namespace ridge::op
