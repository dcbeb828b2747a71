#include "cuda/warp.cuh"
#include "op/layer_norm/layer_norm.h"
#include "op/store_row.cuh"

namespace ridge::op {
namespace {

struct NormTask {
  const float *x, *weight, *bias;
  std::int64_t columns;
  float eps;
};

__global__ void __launch_bounds__(256) norm(NormTask n, RowsOut out) {
  __shared__ float shared[32];
  cuda::let_next_start();
  cuda::wait_for_previous();
  const std::int64_t r = blockIdx.x;
  const float* x = n.x + r * n.columns;
  float sum = 0, squares = 0;
  for (std::int64_t i = threadIdx.x; i < n.columns; i += blockDim.x) sum += x[i];
  const float mean = cuda::block_sum(sum, shared) / float(n.columns);
  for (std::int64_t i = threadIdx.x; i < n.columns; i += blockDim.x) squares = fmaf(x[i] - mean, x[i] - mean, squares);
  const float scale = rsqrtf(cuda::block_sum(squares, shared) / float(n.columns) + n.eps);
  for (std::int64_t i = threadIdx.x; i < (n.columns + 31) / 32 * 32; i += blockDim.x)
    store_value(out, r, i, i < n.columns ? (x[i] - mean) * scale * n.weight[i] + (n.bias ? n.bias[i] : 0.0f) : 0.0f);
}

void layer_norm_cuda(const ir::CudaBound& b) {
  const NormTask task{b.in[0].as<float>(), b.in[1].as<float>(), b.in[2].as<float>(), b.in[0].columns(),
                      b.as<LayerNormParams>().eps};
  cuda::launch(b.on, norm, dim3(unsigned(b.in[0].rows())), 256, 0, task, RowsOut(b.out[0]));
}

}  // namespace

ir::KernelChoice choose_layer_norm_cuda(const ir::Program&, const ir::Call&, const ir::Target&) {
  return {.kernel = "layer_norm/sm80", .reason = "a block to a row", .launch = layer_norm_cuda};
}

}  // namespace ridge::op
