#include "op/embedding/embedding.h"

#include "op/embedding/kernels.h"
#include "op/shape_rules.h"

namespace ridge::op {
namespace {

std::vector<ir::ValueSpec> infer(const ir::Program& p, std::span<const ir::Value> in, const ir::Params&) {
  expect(in.size() == 2 && p[in[0]].dtype == DType::i32 && p[in[0]].shape.rank == 1, "embedding",
         "tokens must be (T) i32");
  expect(p[in[1]].shape.rank == 2, "embedding", "the table must be (V, D)");
  return {{DType::f32, {p[in[0]].shape[0], p[in[1]].shape[1]}}};
}

ir::Cost cost(const ir::Program& p, const ir::Call& c) {
  const ir::ValueInfo& table = p[c.in[1]];
  return {.weight_bytes = per(p[c.in[0]].shape[0], double(row_bytes(table.dtype, table.shape[1].size))),
          .read_bytes = bytes_of(p, c.in[0]),
          .write_bytes = bytes_of(p, c.out[0])};
}

ir::KernelChoice choose(const ir::Program&, const ir::Call&, const ir::Target& target) {
  if (target.device == ir::Device::ref) return {"embedding/ref", "the plain reference", embedding_ref};
  return {"embedding/cpu", "decodes each row where it lies", embedding_cpu};
}

std::string describe(const ir::Params& params) {
  const float scale = params.as<EmbeddingParams>().scale;
  return scale == 1 ? "" : fmt::format("scale {}", scale);
}

}  // namespace

const ir::OpInfo embedding_op{
    .name = "embedding", .infer = infer, .cost = cost, .choose = choose, .describe = describe};

ir::Value embedding(ir::Program& p, ir::Value tokens, ir::Value table, EmbeddingParams params) {
  return p.record(embedding_op, {tokens, table}, params)[0];
}

}  // namespace ridge::op
