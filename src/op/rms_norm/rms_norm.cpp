#include "op/rms_norm/rms_norm.h"

#include "op/rms_norm/kernels.h"
#include "op/shape_rules.h"

namespace ridge::op {
namespace {

std::vector<ir::ValueSpec> infer(const ir::Program& p, std::span<const ir::Value> in, const ir::Params&) {
  const ir::ValueInfo &x = p[in[0]], &w = p[in[1]];
  expect(x.shape.rank == 2 && x.dtype == DType::f32, "rms_norm", "x must be (T, D) f32");
  expect(w.shape.rank == 1 && w.shape[0].size > 0 && x.shape[1].size % w.shape[0].size == 0, "rms_norm",
         "the weight's length must divide the columns of x");
  std::vector<ir::ValueSpec> out{{DType::f32, x.shape}};
  if (in.size() == 3) {
    expect(p[in[2]].shape == x.shape, "rms_norm", "the residual must have the shape of x");
    out.push_back({DType::f32, x.shape});
  }
  return out;
}

ir::Cost cost(const ir::Program& p, const ir::Call& c) {
  ir::Cost cost{.flops = elements_of(p, c.in[0], c.in.size() == 3 ? 5 : 4),
                .weight_bytes = bytes_of(p, c.in[1]),
                .read_bytes = bytes_of(p, c.in[0])};
  if (c.in.size() == 3) cost.read_bytes += bytes_of(p, c.in[2]);
  for (ir::Value v : c.out) cost.write_bytes += bytes_of(p, v);
  return cost;
}

ir::KernelChoice choose(const ir::Program& p, const ir::Call& c, const ir::Target& target) {
  if (target.device == ir::Device::ref) return {"rms_norm/ref", "the plain reference", rms_norm_ref};
  const SimdLevel level = simd_level(target.isa);
  return {fmt::format("rms_norm/{}", name(level)), "one row at a time, in float", rms_norm_cpu(level),
          rms_norm_cpu_scratch(p, c, target)};
}

std::string describe(const ir::Params& params) {
  const auto& n = params.as<RmsNormParams>();
  return n.offset == 0 ? fmt::format("eps {}", n.eps) : fmt::format("eps {}, offset {}", n.eps, n.offset);
}

}  // namespace

const ir::OpInfo rms_norm_op{
    .name = "rms_norm", .infer = infer, .cost = cost, .choose = choose, .describe = describe, .stores_q8 = true};

ir::Value rms_norm(ir::Program& p, ir::Value x, ir::Value weight, RmsNormParams params) {
  return p.record(rms_norm_op, {x, weight}, params)[0];
}

}  // namespace ridge::op
