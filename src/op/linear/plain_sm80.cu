// The product that is right for every type: a warp to a row of the weight, value by value. For types that have no
// kernel of their own, and as the twin to compare those kernels with.
#include "cuda/warp.cuh"
#include "op/act_value.cuh"
#include "op/linear/cuda_kernels.h"
#include "op/store_row.cuh"
#include "op/weight_value.cuh"

namespace ridge::op {
namespace {

constexpr int tokens_at_once = 4;

template <DType type>
__global__ void __launch_bounds__(256)
    multiply(DeviceMatrix w, DeviceRows x, const float* bias, float* out, std::int64_t tokens) {
  cuda::wait_for_previous();
  const std::int64_t row = std::int64_t(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32,
                     first = std::int64_t(blockIdx.y) * tokens_at_once;
  const int lane = int(threadIdx.x % 32);
  if (row < w.rows) {
    float sum[tokens_at_once] = {};
    for (std::int64_t c = lane; c < w.columns; c += 32) {
      const float v = weight_value<type>(w, row, c);
#pragma unroll
      for (int t = 0; t < tokens_at_once; ++t)
        if (first + t < tokens) sum[t] = fmaf(v, act_value(x, first + t, c), sum[t]);
    }
#pragma unroll
    for (int t = 0; t < tokens_at_once; ++t) {
      const float total = cuda::warp_sum(sum[t]);
      if (lane == 0 && first + t < tokens) out[(first + t) * w.rows + row] = total + (bias ? bias[row] : 0.0f);
    }
  }
  cuda::let_next_start();
}

}  // namespace

void linear_plain_cuda(const ir::CudaBound& b) {
  const DeviceRows x(b.in[0]);
  const std::int64_t tokens = b.in[0].rows();
  for (std::size_t s = 0; s < b.out.size(); ++s) {
    const View weight = b.in[1 + s], bias = b.in[1 + b.out.size() + s];
    with_weight_type(weight.dtype, [&]<DType type>() {
      cuda::launch(b.on, multiply<type>,
                   dim3(unsigned((weight.dim(0) + 7) / 8), unsigned((tokens + tokens_at_once - 1) / tokens_at_once)),
                   256, 0, device_matrix(weight), x, bias.as<float>(), b.out[s].as<float>(), tokens);
    });
  }
}

}  // namespace ridge::op
