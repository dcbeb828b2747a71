#include "op/silu_gate/silu_gate.h"

#include "op/shape_rules.h"
#include "op/silu_gate/kernels.h"

namespace ridge::op {
namespace {

std::vector<ir::ValueSpec> infer(const ir::Program& p, std::span<const ir::Value> in, const ir::Params&) {
  expect(in.size() == 2 && p[in[0]].shape == p[in[1]].shape && p[in[0]].shape.rank == 2, "silu_gate",
         "gate and up must both be (T, F)");
  return {{DType::f32, p[in[0]].shape}};
}

ir::Cost cost(const ir::Program& p, const ir::Call& c) {
  return {.flops = elements_of(p, c.out[0], 10),  // an exponential is a polynomial of about seven operations
          .read_bytes = bytes_of(p, c.in[0]) + bytes_of(p, c.in[1]),
          .write_bytes = bytes_of(p, c.out[0])};
}

ir::KernelChoice choose(const ir::Program&, const ir::Call&, const ir::Target& target) {
  if (target.device == ir::Device::ref) return {"silu_gate/ref", "the plain reference", silu_gate_ref};
  const SimdLevel level = simd_level(target.isa);
  return {fmt::format("silu_gate/{}", name(level)), "vectors along a row", silu_gate_cpu(level)};
}

std::string describe(const ir::Params& params) {
  return params.as<SiluGateParams>().kind == GateKind::silu ? "" : "gelu_tanh";
}

}  // namespace

const ir::OpInfo silu_gate_op{.name = "silu_gate",
                              .infer = infer,
                              .cost = cost,
                              .choose = choose,
                              .describe = describe,
                              .in_place = true,
                              .stores_q8 = true};

ir::Value silu_gate(ir::Program& p, ir::Value gate, ir::Value up, SiluGateParams params) {
  return p.record(silu_gate_op, {gate, up}, params)[0];
}

}  // namespace ridge::op
