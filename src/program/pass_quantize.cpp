// Two passes about int8 activations. The first puts a quantize call before products with quantized weights; the second
// folds it into the call that makes x, where nobody else reads x as floats: x then never leaves the cache as floats.
#include <map>

#include "op/expert_linear/expert_linear.h"
#include "op/linear/linear.h"
#include "op/quantize/quantize.h"
#include "program/passes.h"

namespace ridge::program {
namespace {

// Whether the call multiplies floats with blocks. Parts of an expert's row are cut at whole blocks, as the weight's
// are.
bool multiplies_blocks(const ir::Program& p, const ir::Call& c) {
  if (c.op != &op::linear_op && c.op != &op::expert_linear_op) return false;
  const ir::Value weight = c.in[c.op == &op::linear_op ? 1 : 2];
  return is_block(p[weight].dtype) && p[c.in[0]].dtype == DType::f32;
}

}  // namespace

void quantize_activations(ir::Program& p, const ir::Target& target) {
  if (target.activations != ir::Activations::int8) return;
  std::map<int, ir::Value> quantized;  // x -> its int8 form
  std::vector<ir::Call> calls;
  for (ir::Call& c : p.take_calls()) {
    if (multiplies_blocks(p, c)) {
      const ir::Value x = c.in[0];
      const auto [at, is_new] = quantized.try_emplace(x.id);
      if (is_new) {
        at->second = p.new_value({.name = p[x].name + ".q8", .dtype = DType::q8_act, .shape = p[x].shape});
        calls.push_back(
            {.id = p.next_call_id(), .op = &op::quantize_op, .in = {x}, .out = {at->second}, .where = c.where});
      }
      c.in[0] = at->second;
    }
    calls.push_back(std::move(c));
  }
  p.replace_calls(std::move(calls));
}

void fuse_quantize(ir::Program& p, const ir::Target&) {
  const auto read_by = readers(p);
  std::vector<ir::Call> calls = p.take_calls(), kept;
  for (ir::Call& c : calls) {
    const ir::Value x = c.op == &op::quantize_op ? c.in[0] : ir::Value{};
    if (x && p[x].kind == ir::Kind::intermediate && read_by[std::size_t(x.id)].size() == 1 && p[x].producer >= 0) {
      ir::Call* maker = nullptr;  // producers are unchanged by this pass except that calls drop out before them
      for (ir::Call& k : kept)
        for (ir::Value v : k.out)
          if (v == x) maker = &k;
      if (maker && maker->op->stores_q8 && maker->out[0] == x) {
        maker->out[0] = c.out[0];
        maker->covers.push_back(c.id);
        continue;
      }
    }
    kept.push_back(std::move(c));
  }
  p.replace_calls(std::move(kept));
}

}  // namespace ridge::program
