// The CPU path: which kernels a call gets, and how its panels and tokens are split over the threads.
#include <algorithm>

#include "base/error.h"
#include "base/thread_pool.h"
#include "op/linear/cpu.h"
#include "op/linear/kernels.h"
#include "op/linear/linear.h"
#include "op/linear/panel.h"
#include "op/prepare_weight.h"

namespace ridge::op {
namespace {

void add_bias(const View& bias, const View& out, std::int64_t first_row, std::int64_t last_row, std::int64_t token,
              std::int64_t end) {
  float values[panel_rows];
  for (std::int64_t row = first_row; row < last_row; row += panel_rows) {
    const std::int64_t count = std::min<std::int64_t>(panel_rows, last_row - row);
    info(bias.dtype).decode(bias.data + row * info(bias.dtype).block_bytes, values, count);
    for (std::int64_t t = token; t < end; ++t)
      for (std::int64_t i = 0; i < count; ++i) out.row_as<float>(t)[row + i] += values[i];
  }
}

// Panels [first, last) of one segment times tokens [token, end).
void multiply_segment(const ir::Bound& b, std::size_t s, LinearIsa isa, std::int64_t first, std::int64_t last,
                      std::int64_t token, std::int64_t end) {
  const View x = b.in[0], weight = b.in[1 + s], bias = b.in[1 + b.out.size() + s], out = b.out[s];
  if (weight.layout != Layout::panels) fail_bug("linear: a weight of {} is not packed", name(weight.dtype));
  const LinearKernels& kernels = linear_kernels(isa, weight.dtype);
  const LinearTask task{.panels = weight.data,
                        .rows = weight.dim(0),
                        .columns = weight.dim(1),
                        .x = x.row(token),
                        .x_stride = x.row_bytes(),
                        .out = out.row_as<float>(token),
                        .out_stride = out.columns(),
                        .first_panel = first,
                        .last_panel = last,
                        .tokens = end - token};
  (x.dtype == DType::q8_act ? kernels.q8 : kernels.f32)(task);
  if (bias) add_bias(bias, out, first * panel_rows, std::min(last * panel_rows, weight.dim(0)), token, end);
}

// How the work of a call is cut: ranges of panels, counted over all segments, times groups of tokens.
struct Cut {
  std::int64_t panels, grain, ranges;  // panels in a range
  std::int64_t tokens, group, groups;  // tokens in a group
};

// Several ranges per thread, so that one that is held up costs little, but none so small that handing it out costs
// more. Only where there are too few panels for the threads are the tokens split, too: each group reads all weights.
Cut cut(const ir::Bound& b) {
  constexpr std::int64_t ranges_per_thread = 4, least_bytes = 24 << 10, least_tokens = 48;  // a multiple of every tile
  Cut c{.panels = 0, .tokens = b.in[0].rows()};
  std::int64_t bytes = 0;
  for (std::size_t s = 0; s < b.out.size(); ++s) {
    c.panels += panel_count(b.in[1 + s].dim(0));
    bytes += packed_bytes(b.in[1 + s].dtype, b.in[1 + s].dim(0), b.in[1 + s].dim(1));
  }
  const std::int64_t threads = b.pool.threads(), most = threads == 1 ? 1 : threads * ranges_per_thread;
  const std::int64_t worth = bytes * std::max<std::int64_t>(1, c.tokens / 4) / least_bytes;  // ranges of a useful size
  const std::int64_t wanted = std::clamp(worth, threads, most);
  c.grain = (c.panels + wanted - 1) / wanted;
  c.ranges = (c.panels + c.grain - 1) / c.grain;
  const std::int64_t splits =
      std::min((wanted + c.ranges - 1) / c.ranges, (c.tokens + least_tokens - 1) / least_tokens);
  c.group = ((c.tokens + splits - 1) / splits + least_tokens - 1) / least_tokens * least_tokens;
  c.groups = (c.tokens + c.group - 1) / c.group;
  return c;
}

template <LinearIsa isa> void linear_cpu(const ir::Bound& b) {
  if (b.in[0].rows() == 0) return;
  const Cut c = cut(b);
  b.pool.parallel_ranges(c.ranges * c.groups, 1, [&](std::int64_t index, std::int64_t, int) {
    const std::int64_t token = index % c.groups * c.group, end = std::min(token + c.group, c.tokens);
    std::int64_t first = index / c.groups * c.grain, last = std::min(first + c.grain, c.panels);
    for (std::size_t s = 0; s < b.out.size() && last > 0; ++s) {
      const std::int64_t here = panel_count(b.in[1 + s].dim(0));
      if (first < here) multiply_segment(b, s, isa, std::max<std::int64_t>(first, 0), std::min(last, here), token, end);
      first -= here, last -= here;
    }
  });
}

ir::CpuKernel run_with(LinearIsa isa) {
  switch (isa) {
    case LinearIsa::scalar: return linear_cpu<LinearIsa::scalar>;
    case LinearIsa::avx2: return linear_cpu<LinearIsa::avx2>;
    case LinearIsa::avx_vnni: return linear_cpu<LinearIsa::avx_vnni>;
    case LinearIsa::avx512: return linear_cpu<LinearIsa::avx512>;
    case LinearIsa::avx512_vnni: return linear_cpu<LinearIsa::avx512_vnni>;
  }
  return nullptr;
}

std::string types_of(const ir::Program& p, const ir::Call& c) {  // "Q4_1" or "Q4_K+Q6_K"
  std::string text;
  for (std::size_t s = 0; s < c.out.size(); ++s) {
    const std::string type(name(p[c.in[1 + s]].dtype));
    if (text.find(type) == std::string::npos) text += (text.empty() ? "" : "+") + type;
  }
  return text;
}

}  // namespace

ir::KernelChoice choose_linear(const ir::Program& p, const ir::Call& c, const ir::Target& target) {
  if (target.device == ir::Device::ref) return {"linear/ref", "the plain reference", linear_ref};
  const bool q8 = p[c.in[0]].dtype == DType::q8_act;
  for (std::size_t s = 0; s < c.out.size(); ++s) {
    const DType type = p[c.in[1 + s]].dtype;
    if (weight_layout(p, c.in[1 + s], target) != Layout::panels)
      return {"linear/ref", fmt::format("a weight of {} that is not in panels", name(type)), linear_ref};
    if (q8 && !is_block(type))
      return {"linear/ref", fmt::format("{} weights take no int8 activations", name(type)), linear_ref};
  }
  const LinearIsa isa = best_linear_isa(target.isa);
  return {fmt::format("linear/{} panels {} x {}", name(isa), types_of(p, c), q8 ? "int8" : "f32"),
          fmt::format("{} is the best allowed instruction set here", name(isa)), run_with(isa)};
}

}  // namespace ridge::op
