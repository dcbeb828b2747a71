#include "op/add/add.h"

#include "op/add/kernels.h"
#include "op/shape_rules.h"

namespace ridge::op {
namespace {

std::vector<ir::ValueSpec> infer(const ir::Program& p, std::span<const ir::Value> in, const ir::Params&) {
  expect(in.size() == 2 && p[in[0]].shape == p[in[1]].shape, "add", "a and b must have one shape");
  return {{DType::f32, p[in[0]].shape}};
}

ir::Cost cost(const ir::Program& p, const ir::Call& c) {
  return {.flops = elements_of(p, c.out[0], c.params.as<AddParams>().scale == 1 ? 1 : 2),
          .read_bytes = bytes_of(p, c.in[0]) + bytes_of(p, c.in[1]),
          .write_bytes = bytes_of(p, c.out[0])};
}

ir::KernelChoice choose(const ir::Program&, const ir::Call&, const ir::Target& target) {
  if (target.device == ir::Device::ref) return {"add/ref", "the plain reference", add_ref};
  const SimdLevel level = simd_level(target.isa);
  return {fmt::format("add/{}", name(level)), "vectors along a row", add_cpu(level)};
}

std::string describe(const ir::Params& params) {
  const float scale = params.as<AddParams>().scale;
  return scale == 1 ? "" : fmt::format("scale {}", scale);
}

}  // namespace

const ir::OpInfo add_op{
    .name = "add", .infer = infer, .cost = cost, .choose = choose, .describe = describe, .in_place = true};

ir::Value add(ir::Program& p, ir::Value a, ir::Value b, AddParams params) {
  return p.record(add_op, {a, b}, params)[0];
}

}  // namespace ridge::op
