#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "cuda/warp.cuh"
#include "op/rms_norm/rms_norm.h"
#include "op/store_row.cuh"

namespace ridge::op {
namespace {

struct NormTask {
  const float *x, *weight, *residual;
  float* sum;  // x + residual, where there is one
  std::int64_t columns, group;
  float eps, offset;
};

// A block to a group: the whole row, or one head. The values wait in registers between the sum and the product.
template <int threads> __global__ void __launch_bounds__(threads) norm(NormTask n, RowsOut out) {
  constexpr int most = 8;
  __shared__ float shared[32];
  cuda::let_next_start();
  cuda::wait_for_previous();
  const std::int64_t r = blockIdx.x, begin = r * n.columns + std::int64_t(blockIdx.y) * n.group;
  float held[most], squares = 0;
  for (std::int64_t i = threadIdx.x, k = 0; i < n.group; i += threads, ++k) {
    float v = n.x[begin + i];
    if (n.residual) n.sum[begin + i] = v = __fadd_rn(v, n.residual[begin + i]);
    squares = fmaf(v, v, squares);
#pragma unroll
    for (int s = 0; s < most; ++s)
      if (s == k) held[s] = v;
  }
  const float scale = rsqrtf(cuda::block_sum(squares, shared) / float(n.group) + n.eps);
  const std::int64_t whole = (n.group + 31) / 32 * 32;
  for (std::int64_t i = threadIdx.x, k = 0; i < whole; i += threads, ++k) {
    float v = 0;
    if (i < n.group) {
      if (k >= most) v = n.residual ? n.sum[begin + i] : n.x[begin + i];
#pragma unroll
      for (int s = 0; s < most; ++s)
        if (s == k) v = held[s];
      v = v * scale * (n.weight[i] + n.offset);
    }
    if (out.q8) store_value(out, r, i, v);
    else if (i < n.group) reinterpret_cast<float*>(out.data)[begin + i] = v;
  }
}

}  // namespace

void rms_norm_cuda(const ir::CudaBound& b) {
  const auto& params = b.as<RmsNormParams>();
  const View x = b.in[0], weight = b.in[1];
  const bool residual = b.in.size() == 3;
  const NormTask task{x.as<float>(),
                      weight.as<float>(),
                      residual ? b.in[2].as<float>() : nullptr,
                      residual ? b.out[1].as<float>() : nullptr,
                      x.columns(),
                      weight.dim(0),
                      params.eps,
                      params.offset};
  const dim3 grid(unsigned(x.rows()), unsigned(x.columns() / weight.dim(0)));
  if (task.group <= 256) cuda::launch(b.on, norm<64>, grid, 64, 0, task, RowsOut(b.out[0]));
  else if (task.group <= 2048) cuda::launch(b.on, norm<256>, grid, 256, 0, task, RowsOut(b.out[0]));
  else cuda::launch(b.on, norm<1024>, grid, 1024, 0, task, RowsOut(b.out[0]));
}

ir::KernelChoice choose_rms_norm_cuda(const ir::Program& p, const ir::Call& c, const ir::Target&) {
  const bool q8 = p[c.out[0]].dtype == DType::q8_act;
  if (q8 && p[c.in[1]].shape[0] != p[c.in[0]].shape[1])
    ir::refuse("rms_norm", "int8 of single heads is nobody's input");
  return {.kernel = "rms_norm/sm80", .reason = "a block to a row or head", .launch = rms_norm_cuda};
}

}  // namespace ridge::op
