// On GPUs: the norm before a product, and the sum or the gate after it, become one call with it.
#include "op/add/add.h"
#include "op/fused_linear/fused_linear.h"
#include "op/linear/linear.h"
#include "op/rms_norm/rms_norm.h"
#include "op/silu_gate/silu_gate.h"
#include "program/passes.h"

namespace ridge::program {
namespace {

using Readers = std::vector<std::vector<std::size_t>>;

struct Fusion {  // what is found around one linear call
  std::size_t linear = 0;
  std::ptrdiff_t norm = -1, finish = -1;  // indices of calls
};

// The one call that reads v, or -1; outputs of the program are read from outside, too.
std::ptrdiff_t only_reader(const ir::Program& p, const Readers& readers, ir::Value v) {
  const auto& list = readers[std::size_t(v.id)];
  return p[v].kind == ir::Kind::intermediate && list.size() == 1 ? std::ptrdiff_t(list[0]) : -1;
}

std::ptrdiff_t norm_before(const ir::Program& p, std::span<const ir::Call> calls, const Readers& readers,
                           const ir::Call& linear) {
  const ir::ValueInfo& x = p[linear.in[0]];
  if (x.producer < 0 || only_reader(p, readers, linear.in[0]) < 0) return -1;
  const ir::Call& norm = calls[std::size_t(x.producer)];
  const bool whole_row =
      norm.op == &op::rms_norm_op && norm.in.size() == 2 && p[norm.in[1]].shape[0] == p[norm.in[0]].shape[1];
  return whole_row ? x.producer : -1;
}

std::ptrdiff_t finish_after(const ir::Program& p, std::span<const ir::Call> calls, const Readers& readers,
                            const ir::Call& linear) {
  const std::ptrdiff_t reader = only_reader(p, readers, linear.out[0]);
  if (reader < 0) return -1;
  const ir::Call& next = calls[std::size_t(reader)];
  if (linear.out.size() == 1 && next.op == &op::add_op && next.in[1] == linear.out[0] && next.in[0] != next.in[1])
    return reader;
  const bool gate = linear.out.size() == 2 && next.op == &op::silu_gate_op && next.in[0] == linear.out[0] &&
                    next.in[1] == linear.out[1] && only_reader(p, readers, linear.out[1]) == reader;
  return gate ? reader : -1;
}

ir::Call fused(const ir::Program& p, std::span<const ir::Call> calls, const Fusion& at, const ir::Target& target) {
  const ir::Call& linear = calls[at.linear];
  op::FusedLinearParams params{.segments = int(linear.out.size())};
  ir::Call call{.id = linear.id,
                .op = &op::fused_linear_op,
                .in = {linear.in[0], {}, {}},
                .out = linear.out,
                .where = linear.where,
                .covers = linear.covers};
  params.quantize = target.activations == ir::Activations::int8 && is_block(p[linear.in[1]].dtype);
  if (at.norm >= 0) {
    const ir::Call& norm = calls[std::size_t(at.norm)];
    const auto& n = norm.params.as<op::RmsNormParams>();
    params.norm = true, params.eps = n.eps, params.offset = n.offset;
    call.in[0] = norm.in[0], call.in[1] = norm.in[1];
    call.covers.push_back(norm.id);
  }
  if (at.finish >= 0) {
    const ir::Call& finish = calls[std::size_t(at.finish)];
    if (finish.op == &op::add_op) {
      params.finish = op::Finish::add, params.scale = finish.params.as<op::AddParams>().scale;
      call.in[2] = finish.in[0];
    } else {
      params.finish = op::Finish::gate, params.gate = finish.params.as<op::SiluGateParams>().kind;
    }
    call.out = finish.out;
    call.covers.push_back(finish.id);
  }
  call.in.insert(call.in.end(), linear.in.begin() + 1, linear.in.end());
  call.params = params;
  return call;
}

}  // namespace

void fuse_linear(ir::Program& p, const ir::Target& target) {
  if (target.device != ir::Device::cuda) return;
  const Readers read_by = readers(p);
  std::vector<ir::Call> calls = p.take_calls(), kept;
  std::vector<bool> gone(calls.size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const ir::Call& c = calls[i];
    if (c.op != &op::linear_op || p[c.in[0]].dtype != DType::f32) continue;
    const Fusion at{i, norm_before(p, calls, read_by, c), finish_after(p, calls, read_by, c)};
    if (at.norm < 0 && at.finish < 0) continue;
    // What else the finish reads must be made before the product's place in the list.
    const ir::Value residual = at.finish >= 0 && calls[std::size_t(at.finish)].op == &op::add_op
                                   ? calls[std::size_t(at.finish)].in[0]
                                   : ir::Value{};
    if (residual && p[residual].producer >= std::int32_t(i)) continue;
    ir::Call call = fused(p, calls, at, target);
    if (at.norm >= 0) gone[std::size_t(at.norm)] = true;
    if (at.finish >= 0) gone[std::size_t(at.finish)] = true;
    calls[i] = std::move(call);
  }
  for (std::size_t i = 0; i < calls.size(); ++i)
    if (!gone[i]) kept.push_back(std::move(calls[i]));
  p.replace_calls(std::move(kept));
}

}  // namespace ridge::program
