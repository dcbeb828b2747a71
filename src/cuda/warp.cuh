// Sums and maxima over the lanes of a warp and the warps of a block. Fixed order: the same inputs give the same bits.
#pragma once

namespace ridge::cuda {

inline constexpr int warp_size = 32;

__device__ __forceinline__ float warp_sum(float v) {
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
  return v;
}
__device__ __forceinline__ float warp_max(float v) {
  for (int d = 16; d > 0; d /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, d));
  return v;
}

// Sum over a block of at most 1024 threads, whole warps; every thread gets it. `shared` holds 32 floats and may be
// used again at once.
__device__ __forceinline__ float block_sum(float v, float* shared) {
  v = warp_sum(v);
  const unsigned warp = threadIdx.x / 32, warps = (blockDim.x + 31) / 32;
  if (threadIdx.x % 32 == 0) shared[warp] = v;
  __syncthreads();
  float total = 0;
  for (unsigned i = 0; i < warps; ++i) total += shared[i];
  __syncthreads();
  return total;
}

}  // namespace ridge::cuda
