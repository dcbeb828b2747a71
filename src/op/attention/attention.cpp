#include "op/attention/attention.h"

#include "op/attention/kernels.h"
#include "op/shape_rules.h"

namespace ridge::op {
namespace {

bool cached(std::span<const ir::Value> in) { return in.size() == 5; }

std::vector<ir::ValueSpec> infer(const ir::Program& p, std::span<const ir::Value> in, const ir::Params& params) {
  const Shape& q = p[in[0]].shape;
  const std::int64_t d = params.as<AttentionParams>().head_dim;
  expect(q.rank == 2 && d > 0 && q[1].size % d == 0, "attention", "q must be (T, heads * head_dim)");
  std::int64_t kv_heads;
  if (cached(in)) {
    const Shape& state = p[in[1]].shape;
    expect(state.rank == 5 && state[4].size == d, "attention",
           "the state must be (blocks, 2, heads, block_size, head_dim)");
    expect(p[in[2]].shape == Shape{Dim(Symbol::sequences, 1)} && p[in[3]].shape == Shape{Symbol::sequences} &&
               p[in[4]].shape.rank == 2 && p[in[4]].shape[0] == Dim(Symbol::sequences),
           "attention", "query_start must be (B + 1), context_len (B), block_table (B, blocks)");
    kv_heads = state[2].size;
  } else {
    expect(in.size() == 4 && p[in[1]].shape == p[in[2]].shape && p[in[1]].shape.rank == 2 &&
               p[in[1]].shape[0] == q[0] && p[in[1]].shape[1].size % d == 0,
           "attention", "k and v must be (T, kv_heads * head_dim)");
    kv_heads = p[in[1]].shape[1].size / d;
  }
  expect(kv_heads > 0 && (q[1].size / d) % kv_heads == 0, "attention", "the kv heads must divide the query heads");
  return {{DType::f32, q}};
}

// Products of q with the keys it sees and of the weights with their values: 4 d FLOPs a (query, key) pair and head.
// Each key and value is read once a sequence, however many queries share it.
ir::Cost cost(const ir::Program& p, const ir::Call& c) {
  const auto& a = c.params.as<AttentionParams>();
  const double columns = double(p[c.in[0]].shape[1].size);
  const bool windowed = a.window > 0;
  ir::Cost cost{.flops = {windowed ? ir::Term::windowed_query_context : ir::Term::query_context, 4 * columns},
                .read_bytes = bytes_of(p, c.in[0]),
                .write_bytes = bytes_of(p, c.out[0])};
  if (cached(c.in)) {
    const ir::ValueInfo& state = p[c.in[1]];
    const double token_bytes = 2.0 * double(state.shape[2].size) * double(row_bytes(state.dtype, state.shape[4].size));
    if (state.dtype == DType::f16) cost.unit = ir::Unit::f16;
    cost.state_bytes += ir::Linear(windowed ? ir::Term::windowed_context : ir::Term::context, token_bytes);
  } else {
    cost.read_bytes += bytes_of(p, c.in[1]) + bytes_of(p, c.in[2]);
  }
  return cost;
}

std::string describe(const ir::Params& params) {
  const auto& a = params.as<AttentionParams>();
  std::string text = fmt::format("head_dim {}, scale {:.6g}", a.head_dim, a.scale);
  if (a.window) text += fmt::format(", window {}", a.window);
  if (a.softcap != 0) text += fmt::format(", softcap {}", a.softcap);
  if (!a.causal) text += ", not causal";
  return text;
}

}  // namespace

const ir::OpInfo attention_op{.name = "attention",
                              .infer = infer,
                              .cost = cost,
                              .choose = choose_attention,
                              .describe = describe,
                              .stores_q8 = true};

ir::Value attention(ir::Program& p, ir::Value q, ir::Value state, const Sequences& s, AttentionParams params) {
  return p.record(attention_op, {q, state, s.query_start, s.context_len, s.block_table}, params)[0];
}
ir::Value attention_uncached(ir::Program& p, ir::Value q, ir::Value k, ir::Value v, ir::Value query_start,
                             AttentionParams params) {
  return p.record(attention_op, {q, k, v, query_start}, params)[0];
}

}  // namespace ridge::op
