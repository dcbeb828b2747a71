// The tail of every GPU kernel whose output a pass may have turned into quantized activations, and the frame of those
// that work value by value.
#pragma once
#include <cstdint>

#include "cuda/launch.cuh"
#include "ir/op_info.h"
#include "tensor/blocks.h"
#include "tensor/view.h"

namespace ridge::op {

struct RowsOut {  // f32 or q8_act
  std::byte* data;
  std::int64_t columns, row_bytes;
  bool q8;
  explicit RowsOut(const View& v)
      : data(v.data), columns(v.columns()), row_bytes(v.row_bytes()), q8(v.dtype == DType::q8_act) {}
};

// Quantizes the warp's 32 values to one block, by the rules of encode_q8_act (tensor/decode_legacy.cpp).
__device__ __forceinline__ void store_act_block(float v, ActBlock* block) {
  const int lane = int(threadIdx.x % 32);
  unsigned most_bits = __float_as_uint(v) & 0x7fffffffu;
  for (int d = 16; d > 0; d /= 2) most_bits = max(most_bits, __shfl_xor_sync(0xffffffffu, most_bits, d));
  const float most = __uint_as_float(most_bits);
  const bool zero = most < 0x1p-119f, finite = most_bits < 0x7f800000u;
  int q = 0;
  if (!zero && finite) q = max(-127, min(127, __float2int_rn(__fmul_rn(v, __fdiv_rn(127.0f, most)))));
  int sum = q;
  for (int d = 8; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  const int other = __shfl_xor_sync(0xffffffffu, sum, 16);
  const float d = zero ? 0.0f : __fdiv_rn(most, 127.0f);
  block->q[lane] = std::int8_t(q);
  if (lane == 0) {
    block->d = d;
    block->d_sum = zero ? 0.0f : __fmul_rn(d, float(sum + other));
    block->sum[0] = std::int16_t(sum), block->sum[1] = std::int16_t(other);
  }
}

// Stores value `c` of row `r`. All lanes of the warp call it, with 32 columns in a row that begin at a multiple of 32;
// `c` may lie beyond the last column, and `v` is then 0.
__device__ __forceinline__ void store_value(const RowsOut& out, std::int64_t r, std::int64_t c, float v) {
  std::byte* row = out.data + r * out.row_bytes;
  if (!out.q8) {
    if (c < out.columns) reinterpret_cast<float*>(row)[c] = v;
  } else if (c / 32 * 32 < out.columns) {
    store_act_block(v, reinterpret_cast<ActBlock*>(row) + c / 32);
  }
}

template <class F> __global__ void __launch_bounds__(256) each_value(F f, RowsOut out) {
  cuda::let_next_start();
  cuda::wait_for_previous();
  const std::int64_t r = blockIdx.x, c = std::int64_t(blockIdx.y) * blockDim.x + threadIdx.x;
  store_value(out, r, c, c < out.columns ? f(r, c) : 0.0f);
}

// out(r, c) = f(r, c), for an f that is a struct of pointers and numbers with a __device__ operator().
template <class F> void launch_each_value(const ir::CudaBound& b, const View& out, F f) {
  cuda::launch(b.on, each_value<F>, dim3(unsigned(out.rows()), unsigned((out.columns() + 255) / 256)), 256, 0, f,
               RowsOut(out));
}

}  // namespace ridge::op
