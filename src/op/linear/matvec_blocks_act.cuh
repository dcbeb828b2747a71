// Activations to int8 blocks inside of products: the rules of encode_q8_act (tensor/decode_legacy.cpp), as
// store_row.cuh has them, with 4 columns to a lane and 8 lanes to a block.
#pragma once
#include "cuda/warp.cuh"
#include "op/linear/cuda_kernels.h"

namespace ridge::op::matvec_blocks {

__device__ __forceinline__ float add_squares(const float4& v, float sum) {
  return fmaf(v.w, v.w, fmaf(v.z, v.z, fmaf(v.y, v.y, fmaf(v.x, v.x, sum))));
}
// From the sums of the warps.
template <int warps>
__device__ __forceinline__ float norm_scale(const float (&squares)[warps], int columns, float eps) {
  float total = 0;
#pragma unroll
  for (float s : squares) total += s;
  return rsqrtf(total / float(columns) + eps);
}
__device__ __forceinline__ float4 normed(const float4& v, float scale, const float4& w,
                                         float offset) {  // as rms_norm rounds
  return {v.x * scale * (w.x + offset), v.y * scale * (w.y + offset), v.z * scale * (w.z + offset),
          v.w * scale * (w.w + offset)};
}

__device__ __forceinline__ float larger(float a, float b) {  // NaN where one is
#if __CUDA_ARCH__ >= 800
  asm("max.NaN.f32 %0, %0, %1;" : "+f"(a) : "f"(b));
#endif
  return a;
}
// Rounded to an integer, which is in the low byte: no product of encode_q8_act is beyond 127 when it is rounded.
__device__ __forceinline__ unsigned rounded(float v, float inverse) {
  return __float_as_uint(__fadd_rn(__fmul_rn(v, inverse), 12582912.0f));  // 2^23 + 2^22
}
// v / 127, as the division rounds it: the quotient's error is exact in r.
__device__ __forceinline__ float over_127(float v) {
  constexpr float inverse = 1.0f / 127.0f;
  const float q = __fmul_rn(v, inverse), r = __fmaf_rn(-127.0f, q, v);
  return __fmaf_rn(r, inverse, q);
}
// Of a block whose largest magnitude is `most`. No branch: neither is the reciprocal of a large one denormal, nor
// does a small one overflow; that the quotient is rounded as a division rounds it was tried with all mantissas.
struct ActScale {
  float inverse, d;
  bool usual;  // or else the codes are zero
  __device__ __forceinline__ explicit ActScale(float most) {
    const bool zero = most<0x1p-119f, large = most> 0x1p64f;
    usual = !zero && most <= 3.402823466e+38f;
    const float m = large ? __fmul_rn(most, 0x1p-64f) : most;
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(m));
    y = __fmaf_rn(y, __fmaf_rn(-m, y, 1.0f), y);
    const float q = __fmul_rn(127.0f, y), quotient = __fmaf_rn(__fmaf_rn(-m, q, 127.0f), y, q);
    inverse = large ? __fmul_rn(quotient, 0x1p-64f) : quotient;
    d = zero ? 0.0f : usual ? over_127(most) : most;  // infinity or NaN
  }
  __device__ __forceinline__ unsigned codes(const float4& v) const {
    const unsigned low = __byte_perm(rounded(v.x, inverse), rounded(v.y, inverse), 0x0040);
    const unsigned high = __byte_perm(rounded(v.z, inverse), rounded(v.w, inverse), 0x0040);
    return usual ? __byte_perm(low, high, 0x5410) : 0;
  }
};
__device__ __forceinline__ float largest(const float4& v) {
  return larger(larger(fabsf(v.x), fabsf(v.y)), larger(fabsf(v.z), fabsf(v.w)));
}

struct ActQuad {
  unsigned codes;      // of the lane's 4 columns
  float d;             // of the block
  int sum, other_sum;  // of the codes of the lane's half of the block, and of the other
};
// 8 lanes have a block. All lanes of the warp call it.
__device__ __forceinline__ ActQuad quantize_quad(const float4& v) {
  constexpr unsigned all = 0xffffffffu;
  float most = largest(v);
#pragma unroll
  for (int d = 4; d > 0; d /= 2) most = larger(most, __shfl_xor_sync(all, most, d));
  const ActScale scale(most);
  ActQuad q{scale.codes(v), scale.d};
  q.sum = __dp4a(int(q.codes), 0x01010101, 0);
  q.sum += __shfl_xor_sync(all, q.sum, 1);
  q.sum += __shfl_xor_sync(all, q.sum, 2);
  q.other_sum = __shfl_xor_sync(all, q.sum, 4);
  return q;
}
// The same with 8 columns to a lane and 4 lanes to a block.
struct ActOct {
  uint2 codes;
  float d;
  int sum, other_sum;
};
__device__ __forceinline__ ActOct quantize_oct(const float4& a, const float4& b) {
  constexpr unsigned all = 0xffffffffu;
  float most = larger(largest(a), largest(b));
#pragma unroll
  for (int d = 2; d > 0; d /= 2) most = larger(most, __shfl_xor_sync(all, most, d));
  const ActScale scale(most);
  ActOct q{{scale.codes(a), scale.codes(b)}, scale.d};
  q.sum = __dp4a(int(q.codes.x), 0x01010101, __dp4a(int(q.codes.y), 0x01010101, 0));
  q.sum += __shfl_xor_sync(all, q.sum, 1);
  q.other_sum = __shfl_xor_sync(all, q.sum, 2);
  return q;
}

// So that they need not come from far when they are wanted.
__device__ __forceinline__ void ask_into_l2(const float* at, int count) {
  for (int i = int(threadIdx.x) * 32; i < count; i += int(blockDim.x) * 32)
    asm volatile("prefetch.global.L2 [%0];" ::"l"(at + i));
}

}  // namespace ridge::op::matvec_blocks
