#include "op/unary/unary.h"

#include "op/shape_rules.h"
#include "op/unary/kernels.h"

namespace ridge::op {
namespace {

std::vector<ir::ValueSpec> infer(const ir::Program& p, std::span<const ir::Value> in, const ir::Params&) {
  expect(in.size() == 1 && p[in[0]].shape.rank == 2 && p[in[0]].dtype == DType::f32, "unary", "x must be (T, F) f32");
  return {{DType::f32, p[in[0]].shape}};
}

ir::Cost cost(const ir::Program& p, const ir::Call& c) {
  const bool scales = c.params.as<UnaryParams>().kind == UnaryKind::scale;
  return {
      .flops = elements_of(p, c.out[0], scales ? 1 : 10),  // an exponential is a polynomial of about seven operations
      .read_bytes = bytes_of(p, c.in[0]),
      .write_bytes = bytes_of(p, c.out[0])};
}

ir::KernelChoice choose(const ir::Program&, const ir::Call&, const ir::Target& target) {
  if (target.device == ir::Device::ref) return {"unary/ref", "the plain reference", unary_ref};
  const SimdLevel level = simd_level(target.isa);
  return {fmt::format("unary/{}", name(level)), "vectors along a row", unary_cpu(level)};
}

std::string describe(const ir::Params& params) {
  const auto& u = params.as<UnaryParams>();
  switch (u.kind) {
    case UnaryKind::scale: return fmt::format("scale {}", u.amount);
    case UnaryKind::softcap: return fmt::format("softcap {}", u.amount);
    case UnaryKind::gelu_tanh: return "gelu_tanh";
  }
  return "";
}

}  // namespace

const ir::OpInfo unary_op{.name = "unary",
                          .infer = infer,
                          .cost = cost,
                          .choose = choose,
                          .describe = describe,
                          .in_place = true,
                          .stores_q8 = true};

ir::Value unary(ir::Program& p, ir::Value x, UnaryParams params) { return p.record(unary_op, {x}, params)[0]; }

}  // namespace ridge::op
