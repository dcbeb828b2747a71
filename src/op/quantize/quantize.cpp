#include "op/quantize/quantize.h"

#include "op/shape_rules.h"
#include "op/share.h"
#include "tensor/decode.h"
#include "tensor/quantize_act.h"

namespace ridge::op {
namespace {

std::vector<ir::ValueSpec> infer(const ir::Program& p, std::span<const ir::Value> in, const ir::Params&) {
  expect(in.size() == 1 && p[in[0]].dtype == DType::f32, "quantize", "x must be f32");
  return {{DType::q8_act, p[in[0]].shape}};
}

ir::Cost cost(const ir::Program& p, const ir::Call& c) {
  return {
      .flops = elements_of(p, c.in[0], 4), .read_bytes = bytes_of(p, c.in[0]), .write_bytes = bytes_of(p, c.out[0])};
}

void quantize_ref(const ir::Bound& b) {
  for (std::int64_t t = 0; t < b.in[0].rows(); ++t)
    encode_q8_act(b.in[0].row_as<float>(t), b.out[0].row(t), b.in[0].columns());
}

void quantize_cpu(const ir::Bound& b) {
  share_rows(b.pool, b.in[0].rows(), 5 * b.in[0].columns(), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t t = begin; t < end; ++t)
      quantize_row(b.in[0].row_as<float>(t), b.in[0].columns(), b.out[0].row(t));
  });
}

ir::KernelChoice choose(const ir::Program&, const ir::Call&, const ir::Target& target) {
  if (target.device == ir::Device::ref) return {"quantize/ref", "the plain reference", quantize_ref};
  return {"quantize/cpu", "one row at a time", quantize_cpu};
}

}  // namespace

const ir::OpInfo quantize_op{.name = "quantize", .infer = infer, .cost = cost, .choose = choose};

ir::Value quantize(ir::Program& p, ir::Value x) { return p.record(quantize_op, {x})[0]; }

}  // namespace ridge::op
