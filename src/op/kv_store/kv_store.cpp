#include "op/kv_store/kv_store.h"

#include "op/kv_store/kernels.h"
#include "op/shape_rules.h"

namespace ridge::op {
namespace {

std::vector<ir::ValueSpec> infer(const ir::Program& p, std::span<const ir::Value> in, const ir::Params&) {
  const ir::ValueInfo& state = p[in[0]];
  const Shape &k = p[in[1]].shape, &v = p[in[2]].shape;
  expect(state.shape.rank == 5 && (state.dtype == DType::f32 || state.dtype == DType::f16), "kv_store",
         "the state must be (blocks, 2, heads, block_size, head_dim), f32 or f16");
  expect(k == v && k.rank == 2 && k[1].size == state.shape[2].size * state.shape[4].size, "kv_store",
         "k and v must be (T, heads * head_dim) of the state");
  expect(p[in[3]].shape == Shape{k[0]} && p[in[3]].dtype == DType::i32, "kv_store", "slots must be (T) i32");
  return {{state.dtype, state.shape, 0}};
}

ir::Cost cost(const ir::Program& p, const ir::Call& c) {
  const ir::ValueInfo& state = p[c.in[0]];
  const Shape& k = p[c.in[1]].shape;
  return {.read_bytes = bytes_of(p, c.in[1]) + bytes_of(p, c.in[2]) + bytes_of(p, c.in[3]),
          .write_bytes = per(k[0], 2.0 * double(row_bytes(state.dtype, k[1].size)))};
}

ir::KernelChoice choose(const ir::Program&, const ir::Call&, const ir::Target& target) {
  if (target.device == ir::Device::ref) return {"kv_store/ref", "the plain reference", kv_store_ref};
  const SimdLevel level = simd_level(target.isa);
  return {fmt::format("kv_store/{}", name(level)), "runs of tokens, keys turned over in tiles", kv_store_cpu(level)};
}

}  // namespace

const ir::OpInfo kv_store_op{.name = "kv_store", .infer = infer, .cost = cost, .choose = choose};

ir::Value kv_store(ir::Program& p, ir::Value state, ir::Value k, ir::Value v, ir::Value slots) {
  return p.record(kv_store_op, {state, k, v, slots})[0];
}

}  // namespace ridge::op
