#include "op/layer_norm/layer_norm.h"

#include "op/layer_norm/kernels.h"
#include "op/shape_rules.h"

namespace ridge::op {
namespace {

std::vector<ir::ValueSpec> infer(const ir::Program& p, std::span<const ir::Value> in, const ir::Params&) {
  const ir::ValueInfo& x = p[in[0]];
  expect(in.size() == 3 && x.shape.rank == 2 && x.dtype == DType::f32, "layer_norm", "x must be (T, D) f32");
  for (ir::Value v : in.subspan(1))
    expect(!v || (p[v].dtype == DType::f32 && p[v].shape == Shape{x.shape[1]}), "layer_norm",
           "weight and bias must be (D) f32");
  return {{DType::f32, x.shape}};
}

ir::Cost cost(const ir::Program& p, const ir::Call& c) {
  ir::Cost cost{.flops = elements_of(p, c.in[0], 8),
                .weight_bytes = bytes_of(p, c.in[1]),
                .read_bytes = bytes_of(p, c.in[0]),
                .write_bytes = bytes_of(p, c.out[0])};
  if (c.in[2]) cost.weight_bytes += bytes_of(p, c.in[2]);
  return cost;
}

ir::KernelChoice choose(const ir::Program& p, const ir::Call& c, const ir::Target& target) {
  if (target.device == ir::Device::ref) return {"layer_norm/ref", "the plain reference", layer_norm_ref};
  const SimdLevel level = simd_level(target.isa);
  return {fmt::format("layer_norm/{}", name(level)), "one row at a time, in float", layer_norm_cpu(level),
          layer_norm_cpu_scratch(p, c, target)};
}

std::string describe(const ir::Params& params) { return fmt::format("eps {}", params.as<LayerNormParams>().eps); }

}  // namespace

const ir::OpInfo layer_norm_op{
    .name = "layer_norm", .infer = infer, .cost = cost, .choose = choose, .describe = describe, .stores_q8 = true};

ir::Value layer_norm(ir::Program& p, ir::Value x, ir::Value weight, ir::Value bias, LayerNormParams params) {
  return p.record(layer_norm_op, {x, weight, bias}, params)[0];
}

}  // namespace ridge::op
