// What the kernels for few rows of x share: segments, how values lie in a vector of 16 bytes of a weight, sums.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "op/linear/cuda_kernels.h"

namespace ridge::op::matvec {

constexpr int most_segments = 8;

struct Segment {
  const std::byte* weight;
  const float* bias;  // or null
  float* out;
  int rows, first;  // first: the number of its first row, or group of rows, over all segments
};

// Which segment row or group `at` is of.
template <class Product> __device__ __forceinline__ int segment_of(const Product& p, int at) {
  int s = 0;
  while (s + 1 < p.segments && at >= p.segment[s + 1].first) ++s;
  return s;
}

inline int values_of(DType type) { return 16 / info(type).block_bytes; }  // of 16 bytes

template <DType type> struct Weight;  // values: how many a vector has; four: values 4 h to 4 h + 3 of one
template <> struct Weight<DType::f32> {
  static constexpr int values = 4;
  __device__ static float4 four(const uint4& v, int) {
    return {__uint_as_float(v.x), __uint_as_float(v.y), __uint_as_float(v.z), __uint_as_float(v.w)};
  }
};
template <> struct Weight<DType::bf16> {
  static constexpr int values = 8;
  __device__ static float4 four(const uint4& v, int h) {
    const unsigned a = h ? v.z : v.x, b = h ? v.w : v.y;
    return {__uint_as_float(a << 16), __uint_as_float(a & 0xffff0000u), __uint_as_float(b << 16),
            __uint_as_float(b & 0xffff0000u)};
  }
};
template <> struct Weight<DType::f16> {
  static constexpr int values = 8;
  __device__ static float2 two(unsigned bits) {
    return __half22float2(
        __half2(__half2_raw{static_cast<unsigned short>(bits), static_cast<unsigned short>(bits >> 16)}));
  }
  __device__ static float4 four(const uint4& v, int h) {
    const float2 a = two(h ? v.z : v.x), b = two(h ? v.w : v.y);
    return {a.x, a.y, b.x, b.y};
  }
};
template <> struct Weight<DType::f8_e4m3> {
  static constexpr int values = 16;
  __device__ static float2 two(unsigned bits) {
    return __half22float2(__half2(__nv_cvt_fp8x2_to_halfraw2(static_cast<__nv_fp8x2_storage_t>(bits), __NV_E4M3)));
  }
  __device__ static float4 four(const uint4& v, int h) {
    const unsigned bits = h == 0 ? v.x : h == 1 ? v.y : h == 2 ? v.z : v.w;
    const float2 a = two(bits & 0xffffu), b = two(bits >> 16);
    return {a.x, a.y, b.x, b.y};
  }
};

// Weights, which are read once. Volatile: stays before the wait where it is written before it.
__device__ __forceinline__ uint4 stream16(const std::byte* at) {
  uint4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(at));
  return v;
}
__device__ __forceinline__ void copy_async(float4* to, const float* from, bool there) {  // zeros where it is not there
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(unsigned(__cvta_generic_to_shared(to))), "l"(from),
               "r"(there ? 16 : 0)
               : "memory");
#endif
}
__device__ __forceinline__ void copy_async(std::byte* to, const std::byte* from) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(unsigned(__cvta_generic_to_shared(to))), "l"(from)
               : "memory");
#endif
}
__device__ __forceinline__ void ask_into_l2(const std::byte* at, int bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(at), "r"(bytes) : "memory");
#endif
}
__device__ __forceinline__ void end_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int Left> __device__ __forceinline__ void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(Left) : "memory");
#endif
}

// Sums N values (a power of two, at most 32) over the lanes by halves; lane l is left with value l / (32 / N).
template <int N, int distance = 16> __device__ __forceinline__ float sum_over_lanes(const float (&v)[N]) {
  if constexpr (N > 1) {
    const bool upper = threadIdx.x & distance;
    float half[N / 2];
#pragma unroll
    for (int i = 0; i < N / 2; ++i)
      half[i] = (upper ? v[i + N / 2] : v[i]) + __shfl_xor_sync(0xffffffffu, upper ? v[i] : v[i + N / 2], distance);
    return sum_over_lanes<N / 2, distance / 2>(half);
  } else {
    float sum = v[0];
#pragma unroll
    for (int d = distance; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    return sum;
  }
}

__device__ __forceinline__ float gate(float x, GateKind kind) {
  if (kind == GateKind::silu) return x / (1 + expf(-x));
  return 0.5f * x * (1 + tanhf(0.7978845608028654f * (x + 0.044715f * x * x * x)));
}

}  // namespace ridge::op::matvec
