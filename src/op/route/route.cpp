#include "op/route/route.h"

#include "op/route/kernels.h"
#include "op/shape_rules.h"

namespace ridge::op {
namespace {

std::vector<ir::ValueSpec> infer(const ir::Program& p, std::span<const ir::Value> in, const ir::Params& params) {
  const ir::ValueInfo& logits = p[in[0]];
  const std::int64_t used = params.as<RouteParams>().used;
  expect(in.size() == 1 && logits.shape.rank == 2 && logits.dtype == DType::f32, "route", "logits must be (T, E) f32");
  expect(used >= 1 && used <= logits.shape[1].size, "route", "a token uses from 1 to all of the experts");
  return {{DType::i32, {logits.shape[0], used}}, {DType::f32, {logits.shape[0], used}}};
}

ir::Cost cost(const ir::Program& p, const ir::Call& c) {
  return {.flops = elements_of(p, c.in[0], 10),  // an exponential each
          .read_bytes = bytes_of(p, c.in[0]),
          .write_bytes = bytes_of(p, c.out[0]) + bytes_of(p, c.out[1])};
}

ir::KernelChoice choose(const ir::Program&, const ir::Call&, const ir::Target& target) {
  if (target.device == ir::Device::ref) return {"route/ref", "the plain reference", route_ref};
  return {"route/cpu", "one token at a time: few numbers each", route_cpu};
}

std::string describe(const ir::Params& params) {
  const auto& r = params.as<RouteParams>();
  return fmt::format("{} used{}", r.used, r.weights == RouteWeights::normalized ? ", normalized" : "");
}

}  // namespace

const ir::OpInfo route_op{.name = "route", .infer = infer, .cost = cost, .choose = choose, .describe = describe};

Routes route(ir::Program& p, ir::Value logits, RouteParams params) {
  const std::vector<ir::Value> out = p.record(route_op, {logits}, params);
  return {out[0], out[1]};
}

}  // namespace ridge::op
