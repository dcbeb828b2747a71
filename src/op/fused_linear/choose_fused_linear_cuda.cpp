// Which GPU kernels a call gets.
#include <algorithm>
#include <vector>

#include "op/fused_linear/cuda_parts.h"
#include "op/fused_linear/fused_linear.h"
#include "op/linear/cuda_kernels.h"
#include "op/linear/fused_blocks.h"

namespace ridge::op {
namespace {

std::int64_t aligned(std::int64_t n) { return (n + 255) / 256 * 256; }

}  // namespace

ir::KernelChoice choose_fused_linear_cuda(const ir::Program& p, const ir::Call& c, const ir::Target& target) {
  const auto& f = c.params.as<FusedLinearParams>();
  const std::int64_t tokens = target.most.of(p[c.in[0]].shape[0]), columns = p[c.in[0]].shape[1].size;
  const DType x = f.quantize ? DType::q8_act : DType::f32;
  std::vector<LinearWeight> weights;
  std::int64_t scratch = f.norm || f.quantize ? aligned(tokens * row_bytes(x, columns)) : 0;
  for (int s = 0; s < f.segments; ++s) {
    const ir::ValueInfo& w = p[c.in[std::size_t(3 + s)]];
    weights.push_back({w.dtype, w.shape[0].size});
    if (f.finish != Finish::none) scratch += aligned(tokens * w.shape[0].size * std::int64_t(sizeof(float)));
  }
  const LinearPlan plan = plan_linear_cuda(x, columns, weights, tokens, target);
  const FusedKernels kernels = fused_linear_kernels(plan.exact);
  std::vector<DType> types;
  for (const LinearWeight& w : weights) types.push_back(w.dtype);
  const int arch = target.gpu.arch;
  const bool one_type = std::ranges::all_of(types, [&](DType t) { return t == types[0]; });
  const bool fits = f.segments <= 8 && (f.quantize ? fused_blocks_fits(types, columns, 1, arch)
                                                   : one_type && (ring_matvec_fits(types[0], columns, 1, arch) ||
                                                                  fused_matvec_fits(types[0], columns, 1, arch)));
  return {
      .kernel = (fits ? "fused_linear/one launch for few rows, else parts, " : "fused_linear/parts, ") + plan.kernel,
      .reason = plan.reason,
      .scratch_bytes = scratch + plan.scratch_bytes,
      .launch = fits ? kernels.one : kernels.parts,
      .rounding = plan.rounding};
}

}  // namespace ridge::op
