#include "op/rope/rope.h"

#include "op/rope/kernels.h"
#include "op/shape_rules.h"

namespace ridge::op {
namespace {

std::vector<ir::ValueSpec> infer_angles(const ir::Program& p, std::span<const ir::Value> in, const ir::Params&) {
  const ir::ValueInfo &positions = p[in[0]], &frequencies = p[in[1]];
  expect(positions.shape.rank == 1 && positions.dtype == DType::i32, "rope_angles", "positions must be (T) i32");
  expect(frequencies.shape.rank == 1 && frequencies.dtype == DType::f32, "rope_angles",
         "frequencies must be (r/2) f32");
  return {{DType::f32, {positions.shape[0], 2 * frequencies.shape[0].size}}};
}

ir::Cost cost_angles(const ir::Program& p, const ir::Call& c) {
  return {.flops = elements_of(p, c.out[0], 10),  // a sine is a polynomial of about ten operations
          .weight_bytes = bytes_of(p, c.in[1]),
          .read_bytes = bytes_of(p, c.in[0]),
          .write_bytes = bytes_of(p, c.out[0])};
}

ir::KernelChoice choose_angles(const ir::Program&, const ir::Call&, const ir::Target& target) {
  if (target.device == ir::Device::ref) return {"rope_angles/ref", "the plain reference", rope_angles_ref};
  const SimdLevel level = simd_level(target.isa);
  return {fmt::format("rope_angles/{}", name(level)), "sines in doubles, once a step", rope_angles_cpu(level)};
}

std::vector<ir::ValueSpec> infer(const ir::Program& p, std::span<const ir::Value> in, const ir::Params& params) {
  const Shape &x = p[in[0]].shape, &angles = p[in[1]].shape;
  const int d = params.as<RopeParams>().head_dim;
  expect(x.rank == 2 && d > 0 && x[1].size % d == 0, "rope", "x must be (T, heads * head_dim)");
  expect(angles.rank == 2 && angles[0] == x[0] && angles[1].size <= d, "rope",
         "angles must be (T, r) with r <= head_dim");
  return {{DType::f32, x}};
}

ir::Cost cost(const ir::Program& p, const ir::Call& c) {
  return {.flops = elements_of(p, c.out[0], 3),
          .read_bytes = bytes_of(p, c.in[0]) + bytes_of(p, c.in[1]),
          .write_bytes = bytes_of(p, c.out[0])};
}

ir::KernelChoice choose(const ir::Program&, const ir::Call&, const ir::Target& target) {
  if (target.device == ir::Device::ref) return {"rope/ref", "the plain reference", rope_ref};
  const SimdLevel level = simd_level(target.isa);
  return {fmt::format("rope/{}", name(level)), "vectors over a head's pairs", rope_cpu(level)};
}

std::string describe(const ir::Params& params) {
  const auto& r = params.as<RopeParams>();
  return fmt::format("head_dim {}, {}", r.head_dim, r.style == RopeStyle::halves ? "halves" : "pairs");
}

}  // namespace

const ir::OpInfo rope_angles_op{
    .name = "rope_angles", .infer = infer_angles, .cost = cost_angles, .choose = choose_angles};
const ir::OpInfo rope_op{
    .name = "rope", .infer = infer, .cost = cost, .choose = choose, .describe = describe, .in_place = true};

ir::Value rope_angles(ir::Program& p, ir::Value positions, ir::Value frequencies, RopeAnglesParams params) {
  return p.record(rope_angles_op, {positions, frequencies}, params)[0];
}
ir::Value rope(ir::Program& p, ir::Value x, ir::Value angles, RopeParams params) {
  return p.record(rope_op, {x, angles}, params)[0];
}

}  // namespace ridge::op
