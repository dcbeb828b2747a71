#include "op/sampling/sampling.h"

#include "op/sampling/kernels.h"
#include "op/shape_rules.h"

namespace ridge::op {
namespace {

std::vector<ir::ValueSpec> infer(const ir::Program& p, std::span<const ir::Value> in, const ir::Params&) {
  const ir::ValueInfo &logits = p[in[0]], &controls = p[in[1]], &adjusts = p[in[2]];
  expect(logits.shape.rank == 2 && logits.dtype == DType::f32, "sampling", "logits must be (R, V) f32");
  expect(controls.dtype == DType::u8 && controls.shape == Shape{logits.shape[0], std::int64_t(sizeof(SampleControl))},
         "sampling", "controls must be one SampleControl a row");
  expect(adjusts.dtype == DType::u8 && adjusts.shape.rank == 2 && adjusts.shape[1].size == sizeof(SampleAdjust),
         "sampling", "adjusts must be an array of SampleAdjust");
  return {{DType::i32, {logits.shape[0]}}};
}

// One pass over the logits; what top-k and top-p sort is small beside it.
ir::Cost cost(const ir::Program& p, const ir::Call& c) {
  return {.flops = elements_of(p, c.in[0], 1),
          .read_bytes = bytes_of(p, c.in[0]) + bytes_of(p, c.in[1]),
          .write_bytes = bytes_of(p, c.out[0])};
}

ir::KernelChoice choose(const ir::Program& p, const ir::Call& c, const ir::Target& target) {
  if (target.device == ir::Device::ref) return {"sampling/ref", "the plain reference", sampling_ref};
  const SimdLevel level = simd_level(target.isa);
  return {fmt::format("sampling/{}", name(level)), "sorts only tokens that can be drawn", sampling_cpu(level),
          sampling_cpu_scratch(p, c, target)};
}

}  // namespace

const ir::OpInfo sampling_op{.name = "sampling", .infer = infer, .cost = cost, .choose = choose};

ir::Value sample(ir::Program& p, ir::Value logits, ir::Value controls, ir::Value adjusts) {
  return p.record(sampling_op, {logits, controls, adjusts})[0];
}

}  // namespace ridge::op
