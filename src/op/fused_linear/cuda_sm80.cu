#include "cuda/warp.cuh"
#include "op/fused_linear/cuda_parts.h"
#include "op/fused_linear/fused_linear.h"
#include "op/linear/cuda_kernels.h"
#include "op/linear/fused_blocks.h"
#include "op/linear/linear.h"
#include "op/rms_norm/rms_norm.h"
#include "op/store_row.cuh"

namespace ridge::op {
namespace {

struct Copied {
  const float* x;
  std::int64_t columns;
  __device__ float operator()(std::int64_t r, std::int64_t c) const { return x[r * columns + c]; }
};
struct Added {
  const float *residual, *product;
  std::int64_t columns;
  float scale;
  __device__ float operator()(std::int64_t r, std::int64_t c) const {
    return fmaf(scale, product[r * columns + c], residual[r * columns + c]);
  }
};

// Hands out parts of the scratch memory.
struct Scratch {
  std::span<std::byte> left;
  View take(DType dtype, std::int64_t rows, std::int64_t columns) {
    View v{.data = left.data(), .dtype = dtype, .rank = 2, .dims = {rows, columns}};
    left = left.subspan(std::size_t((v.bytes() + 255) / 256 * 256));
    return v;
  }
};

template <ir::CudaKernel product> void parts(const ir::CudaBound& b) {
  const auto& f = b.as<FusedLinearParams>();
  const std::size_t n = std::size_t(f.segments);
  Scratch scratch{b.scratch};
  const View x = b.in[0];
  View prepared = x;
  if (f.norm || f.quantize) prepared = scratch.take(f.quantize ? DType::q8_act : DType::f32, x.rows(), x.columns());
  if (f.norm) {
    const View in[] = {x, b.in[1]};
    const ir::Params params(RmsNormParams{f.eps, f.offset});
    rms_norm_cuda({in, {&prepared, 1}, params, b.on, {}});
  } else if (f.quantize) {
    launch_each_value(b, prepared, Copied{x.as<float>(), x.columns()});
  }
  std::vector<View> in{prepared}, out;
  in.insert(in.end(), b.in.begin() + 3, b.in.end());
  for (std::size_t s = 0; s < n; ++s)
    out.push_back(f.finish == Finish::none ? b.out[s] : scratch.take(DType::f32, x.rows(), b.in[3 + s].dim(0)));
  const ir::Params params(LinearParams{f.segments});
  product({in, out, params, b.on, scratch.left});
  if (f.finish == Finish::gate) {
    const ir::Params gate(SiluGateParams{f.gate});
    silu_gate_cuda({out, b.out, gate, b.on, {}});
  }
  if (f.finish == Finish::add)
    launch_each_value(b, b.out[0], Added{b.in[2].as<float>(), out[0].as<float>(), b.out[0].columns(), f.scale});
}

template <ir::CudaKernel product, bool exact> void one(const ir::CudaBound& b) {
  const auto& f = b.as<FusedLinearParams>();
  const std::size_t n = std::size_t(f.segments);
  const std::span<const View> weights = b.in.subspan(3, n), biases = b.in.subspan(3 + n, n);
  const std::int64_t tokens = b.in[0].rows(), columns = b.in[0].columns();
  const DType type = weights[0].dtype;
  if (tokens == 0) return parts<product>(b);
  const Around around{.norm = f.norm ? b.in[1].as<float>() : nullptr,
                      .eps = f.eps,
                      .offset = f.offset,
                      .residual = f.finish == Finish::add ? b.in[2].as<float>() : nullptr,
                      .scale = f.scale,
                      .gates = f.finish == Finish::gate,
                      .gate = f.gate,
                      .out = b.out[0].as<float>()};
  if (f.quantize) {
    std::vector<DType> types;
    for (const View& w : weights) types.push_back(w.dtype);
    if (fused_blocks_fits(types, columns, tokens, b.on.arch)) return fused_blocks_cuda(b, weights, biases, around);
    return parts<product>(b);
  }
  const bool small = !exact && tokens > matvec_best_tokens && fused_small_fits(type, columns, tokens, b.on.arch);
  if (small) fused_small_cuda(b, weights, biases, around);
  else if (ring_matvec_fits(type, columns, tokens, b.on.arch)) ring_matvec_cuda(b, weights, biases, around);
  else if (fused_matvec_fits(type, columns, tokens, b.on.arch)) fused_matvec_cuda(b, weights, biases, around);
  else parts<product>(b);
}

}  // namespace

FusedKernels fused_linear_kernels(bool exact) {
  if (exact) return {parts<linear_exact_cuda>, one<linear_exact_cuda, true>};
  return {parts<linear_cuda>, one<linear_cuda, false>};
}

}  // namespace ridge::op
