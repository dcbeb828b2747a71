// Tokens are sorted by expert and their rows copied together, so that each expert's panels (op/linear/panel.h) are read
// once, by the kernels of `linear`; then the products go back to their tokens. A product depends on its own row alone.
#include "op/linear/cpu.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/thread_pool.h"
#include "op/expert_linear/expert_linear.h"
#include "op/expert_linear/kernels.h"
#include "op/linear/panel.h"
#include "op/prepare_weight.h"
#include "op/share.h"

namespace ridge::op {
namespace {

constexpr std::int64_t alignment = 64;
std::int64_t aligned(std::int64_t n) { return (n + alignment - 1) / alignment * alignment; }

// Where things lie in the scratch of a call of `pairs` tokens times experts used.
struct Places {
  std::int64_t order, starts, x, y, bytes;

  Places(std::int64_t pairs, std::int64_t experts, std::int64_t x_row_bytes, std::int64_t outputs)
      : order(0),
        starts(order + aligned(pairs * std::int64_t(sizeof(std::int32_t)))),
        x(starts + aligned((experts + 1) * std::int64_t(sizeof(std::int32_t)))),
        y(x + aligned(pairs * x_row_bytes)),
        bytes(y + pairs * outputs * std::int64_t(sizeof(float))) {}
};

// order: pairs (token * used + j) by expert, tokens in order; starts[e]: where expert e's begin.
void sort_by_expert(const View& experts, std::int64_t count, std::int32_t* order, std::int32_t* starts) {
  const std::int64_t pairs = experts.rows() * experts.columns();
  const auto* of = experts.as<std::int32_t>();
  std::fill_n(starts, count + 1, 0);
  for (std::int64_t i = 0; i < pairs; ++i) {
    if (of[i] < 0 || of[i] >= count) fail_bug("expert_linear: expert {} of {}", of[i], count);
    ++starts[of[i] + 1];
  }
  for (std::int64_t e = 0; e < count; ++e) starts[e + 1] += starts[e];
  for (std::int64_t i = 0; i < pairs; ++i) order[starts[of[i]]++] = std::int32_t(i);
  for (std::int64_t e = count; e > 0; --e) starts[e] = starts[e - 1];
  starts[0] = 0;
}

template <LinearIsa isa> void expert_linear_cpu(const ir::Bound& b) {
  const View x = b.in[0], experts = b.in[1], weight = b.in[2], mix = b.in[3], out = b.out[0];
  const std::int64_t used = experts.columns(), pairs = experts.rows() * used, count = weight.dim(0);
  const std::int64_t outputs = weight.dim(1), inputs = weight.dim(2), row = row_bytes(x.dtype, inputs);
  if (pairs == 0) return;
  const Places at(pairs, count, row, outputs);
  auto* const order = reinterpret_cast<std::int32_t*>(b.scratch.data() + at.order);
  auto* const starts = reinterpret_cast<std::int32_t*>(b.scratch.data() + at.starts);
  std::byte* const xs = b.scratch.data() + at.x;
  auto* const ys = reinterpret_cast<float*>(b.scratch.data() + at.y);
  sort_by_expert(experts, count, order, starts);
  share_rows(b.pool, pairs, 2 * row, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i)
      std::memcpy(xs + i * row, x.row(order[i] / used) + (mix ? order[i] % used * row : 0), std::size_t(row));
  });

  const LinearKernels& kernels = linear_kernels(isa, weight.dtype);
  const std::int64_t panels = panel_count(outputs), expert_bytes = packed_bytes(weight.dtype, outputs, inputs);
  const std::int64_t active = std::min(pairs, count), wanted = 4 * std::int64_t(b.pool.threads());
  const std::int64_t ranges = std::clamp<std::int64_t>(wanted / active, 1, panels),
                     grain = (panels + ranges - 1) / ranges;
  b.pool.parallel_for(count * ranges, [&](std::int64_t item, int) {
    const std::int64_t e = item / ranges, first = item % ranges * grain, last = std::min(first + grain, panels);
    if (starts[e] == starts[e + 1] || first >= last) return;
    const LinearTask task{.panels = weight.data + e * expert_bytes,
                          .rows = outputs,
                          .columns = inputs,
                          .x = xs + starts[e] * row,
                          .x_stride = row,
                          .out = ys + starts[e] * outputs,
                          .out_stride = outputs,
                          .first_panel = first,
                          .last_panel = last,
                          .tokens = starts[e + 1] - starts[e]};
    (x.dtype == DType::q8_act ? kernels.q8 : kernels.f32)(task);
  });

  // Back to the tokens: order[i] is whose the i-th product is; where[pair] is needed, so turn it round in place of xs.
  auto* const where = reinterpret_cast<std::int32_t*>(xs);
  for (std::int64_t i = 0; i < pairs; ++i) where[order[i]] = std::int32_t(i);
  share_rows(b.pool, experts.rows(), 8 * used * outputs, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t t = begin; t < end; ++t)
      for (std::int64_t j = 0; j < used; ++j) {
        const float* from = ys + where[t * used + j] * outputs;
        float* const to = out.row_as<float>(t) + (mix ? 0 : j * outputs);
        if (!mix) std::copy_n(from, outputs, to);
        else if (j == 0)
          std::transform(from, from + outputs, to, [w = mix.row_as<float>(t)[j]](float v) { return w * v; });
        else
          for (std::int64_t n = 0; n < outputs; ++n) to[n] += mix.row_as<float>(t)[j] * from[n];
      }
  });
}

ir::CpuKernel run_with(LinearIsa isa) {
  switch (isa) {
    case LinearIsa::scalar: return expert_linear_cpu<LinearIsa::scalar>;
    case LinearIsa::avx2: return expert_linear_cpu<LinearIsa::avx2>;
    case LinearIsa::avx_vnni: return expert_linear_cpu<LinearIsa::avx_vnni>;
    case LinearIsa::avx512: return expert_linear_cpu<LinearIsa::avx512>;
    case LinearIsa::avx512_vnni: return expert_linear_cpu<LinearIsa::avx512_vnni>;
  }
  return nullptr;
}

}  // namespace

ir::KernelChoice choose_expert_linear(const ir::Program& p, const ir::Call& c, const ir::Target& target) {
  if (target.device == ir::Device::ref) return {"expert_linear/ref", "the plain reference", expert_linear_ref};
  const ir::ValueInfo &x = p[c.in[0]], &weight = p[c.in[2]];
  const bool q8 = x.dtype == DType::q8_act;
  if (weight_layout(p, c.in[2], target) != Layout::panels)
    return {"expert_linear/ref", fmt::format("a weight of {} that is not in panels", name(weight.dtype)),
            expert_linear_ref};
  if (q8 && !is_block(weight.dtype))
    return {"expert_linear/ref", fmt::format("{} weights take no int8 activations", name(weight.dtype)),
            expert_linear_ref};
  const LinearIsa isa = best_linear_isa(target.isa);
  const std::int64_t pairs = target.most.of(x.shape[0]) * p[c.in[1]].shape[1].size;
  const Places places(pairs, weight.shape[0].size, std::max<std::int64_t>(row_bytes(x.dtype, weight.shape[2].size), 4),
                      weight.shape[1].size);
  return {fmt::format("expert_linear/{} panels {} x {}", name(isa), name(weight.dtype), q8 ? "int8" : "f32"),
          fmt::format("tokens sorted by expert; {} is the best allowed instruction set here", name(isa)), run_with(isa),
          places.bytes};
}

}  // namespace ridge::op
