#include "op/rope/rope.h"
#include "op/store_row.cuh"

namespace ridge::op {
namespace {

struct Angles {
  const std::int32_t* positions;
  const float* frequencies;
  std::int64_t half;
  float scale;
  __device__ float operator()(std::int64_t r, std::int64_t c) const {
    const double angle =
        double(positions[r]) * double(frequencies[c % half]);  // in double: positions reach 2^17 and more
    return float((c < half ? cos(angle) : sin(angle)) * double(scale));
  }
};

void rope_angles_cuda(const ir::CudaBound& b) {
  launch_each_value(
      b, b.out[0],
      Angles{b.in[0].as<std::int32_t>(), b.in[1].as<float>(), b.in[1].dim(0), b.as<RopeAnglesParams>().scale});
}

// A thread to a pair, so that it may work in place; the elements that are not rotated follow the pairs.
__global__ void __launch_bounds__(256)
    rotate(const float* x, const float* angles, float* out, std::int64_t columns, int head_dim, int half, bool pairs) {
  cuda::let_next_start();
  cuda::wait_for_previous();
  const std::int64_t r = blockIdx.x;
  const int per_head = head_dim - half;  // pairs, then what passes through
  const std::int64_t at = std::int64_t(blockIdx.y) * blockDim.x + threadIdx.x, head = at / per_head;
  const int i = int(at % per_head);
  if (head * head_dim < columns) {
    const float* from = x + r * columns + head * head_dim;
    float* to = out + r * columns + head * head_dim;
    if (i < half) {
      const int first = pairs ? 2 * i : i, second = pairs ? 2 * i + 1 : i + half;
      const float cosine = angles[r * 2 * half + i], sine = angles[r * 2 * half + half + i], a = from[first],
                  c = from[second];
      to[first] = __fsub_rn(__fmul_rn(a, cosine), __fmul_rn(c, sine));
      to[second] = __fadd_rn(__fmul_rn(a, sine), __fmul_rn(c, cosine));
    } else {
      to[i + half] = from[i + half];
    }
  }
}

void rope_cuda(const ir::CudaBound& b) {
  const auto& params = b.as<RopeParams>();
  const View x = b.in[0];
  const int half = int(b.in[1].columns() / 2);
  const std::int64_t work = x.columns() / params.head_dim * (params.head_dim - half);
  cuda::launch(b.on, rotate, dim3(unsigned(x.rows()), unsigned((work + 255) / 256)), 256, 0, x.as<float>(),
               b.in[1].as<float>(), b.out[0].as<float>(), x.columns(), params.head_dim, half,
               params.style == RopeStyle::pairs);
}

}  // namespace

ir::KernelChoice choose_rope_angles_cuda(const ir::Program&, const ir::Call&, const ir::Target&) {
  return {.kernel = "rope_angles/sm80", .reason = "once a step, in double", .launch = rope_angles_cuda};
}
ir::KernelChoice choose_rope_cuda(const ir::Program&, const ir::Call&, const ir::Target&) {
  return {.kernel = "rope/sm80", .reason = "a thread to a pair", .launch = rope_cuda};
}

}  // namespace ridge::op
