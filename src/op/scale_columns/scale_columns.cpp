#include "op/scale_columns/scale_columns.h"

#include "op/scale_columns/kernels.h"
#include "op/shape_rules.h"

namespace ridge::op {
namespace {

std::vector<ir::ValueSpec> infer(const ir::Program& p, std::span<const ir::Value> in, const ir::Params&) {
  const ir::ValueInfo &x = p[in[0]], &scale = p[in[1]];
  expect(in.size() == 3 && x.shape.rank == 2 && x.dtype == DType::f32, "scale_columns", "x must be (T, N) f32");
  expect(scale.dtype == DType::f32 && (scale.shape == Shape{x.shape[1]} || scale.shape == Shape{1}), "scale_columns",
         "the scale must be (N) or (1) f32");
  expect(!in[2] || (p[in[2]].dtype == DType::f32 && p[in[2]].shape == Shape{x.shape[1]}), "scale_columns",
         "the bias must be (N) f32");
  return {{DType::f32, x.shape}};
}

ir::Cost cost(const ir::Program& p, const ir::Call& c) {
  ir::Cost cost{.flops = elements_of(p, c.out[0], c.in[2] ? 2 : 1),
                .weight_bytes = bytes_of(p, c.in[1]),
                .read_bytes = bytes_of(p, c.in[0]),
                .write_bytes = bytes_of(p, c.out[0])};
  if (c.in[2]) cost.weight_bytes += bytes_of(p, c.in[2]);
  return cost;
}

ir::KernelChoice choose(const ir::Program&, const ir::Call&, const ir::Target& target) {
  if (target.device == ir::Device::ref) return {"scale_columns/ref", "the plain reference", scale_columns_ref};
  const SimdLevel level = simd_level(target.isa);
  return {fmt::format("scale_columns/{}", name(level)), "vectors along a row", scale_columns_cpu(level)};
}

}  // namespace

const ir::OpInfo scale_columns_op{
    .name = "scale_columns", .infer = infer, .cost = cost, .choose = choose, .in_place = true};

ir::Value scale_columns(ir::Program& p, ir::Value x, ir::Value scale, ir::Value bias) {
  return p.record(scale_columns_op, {x, scale, bias})[0];
}

}  // namespace ridge::op
