// What stands around a product through cuBLASLt: x and weights become halves, results get back their rows' scales.
#include "cuda/launch.cuh"
#include "cuda/warp.cuh"
#include "op/act_value.cuh"
#include "op/linear/cuda_kernels.h"
#include "op/weight_value.cuh"

namespace ridge::op {
namespace {

constexpr int eight = 8;  // halves to a 16-byte store

template <Half to> __device__ __forceinline__ unsigned short half_bits(float v) {
  if constexpr (to == Half::bf16) return __bfloat16_as_ushort(__float2bfloat16_rn(v));
  else return __half_as_ushort(__float2half_rn(v));
}
template <Half to> __device__ __forceinline__ void store_eight(std::byte* at, const float (&v)[eight]) {
  unsigned word[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) word[i] = half_bits<to>(v[2 * i]) | unsigned(half_bits<to>(v[2 * i + 1])) << 16;
  *reinterpret_cast<uint4*>(at) = {word[0], word[1], word[2], word[3]};
}

// Eight values of x from column c on, zeros beyond the last.
__device__ __forceinline__ void read_eight(const DeviceRows& x, std::int64_t row, int c, float (&v)[eight]) {
  const std::byte* from = x.data + row * x.row_bytes;
  if (!x.q8 && x.columns % 4 == 0 && c + eight <= x.columns) {
    const auto* four = reinterpret_cast<const float4*>(reinterpret_cast<const float*>(from) + c);
    const float4 a = four[0], b = four[1];
    v[0] = a.x, v[1] = a.y, v[2] = a.z, v[3] = a.w, v[4] = b.x, v[5] = b.y, v[6] = b.z, v[7] = b.w;
  } else {
#pragma unroll
    for (int i = 0; i < eight; ++i) v[i] = c + i < x.columns ? act_value(x, row, c + i) : 0.0f;
  }
}

// The power of two by which a row with this largest value is divided: such that it comes below 2^15, and 1 where it is
// there already or is no number.
__device__ __forceinline__ float scale_of(float most) {
  const int exponent = __float_as_int(most) >> 23;  // with its bias of 127
  return exponent < 127 + 15 || exponent == 255 ? 1.0f : __int_as_float((exponent - 14) << 23);
}

// bf16: blocks cut a row among them. f16: a block has a row of its own, whose largest value it looks for first.
template <Half to>
__global__ void __launch_bounds__(256) narrow_rows(DeviceRows x, std::byte* out, float* scale, int stride) {
  __shared__ float warps[8];
  cuda::let_next_start();
  cuda::wait_for_previous();
  const std::int64_t row = blockIdx.x;
  const int step = int(gridDim.y * blockDim.x) * eight, first = int(blockIdx.y * blockDim.x + threadIdx.x) * eight;
  float by = 1;
  if constexpr (to == Half::f16) {
    float most = 0;
    for (int c = first; c < stride; c += step) {
      float v[eight];
      read_eight(x, row, c, v);
#pragma unroll
      for (int i = 0; i < eight; ++i) most = fmaxf(most, fabsf(v[i]));
    }
    most = cuda::warp_max(most);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = most;
    __syncthreads();
    for (int i = 0; i < 8; ++i) most = fmaxf(most, warps[i]);
    const float s = scale_of(most);
    if (threadIdx.x == 0) scale[row] = s;
    by = 1 / s;
  }
  for (int c = first; c < stride; c += step) {
    float v[eight];
    read_eight(x, row, c, v);
#pragma unroll
    for (int i = 0; i < eight; ++i) v[i] *= by;
    store_eight<to>(out + (row * stride + c) * 2, v);
  }
}

template <DType type, Half to>
__global__ void __launch_bounds__(256) widen(DeviceMatrix w, std::int64_t first, std::byte* out, unsigned stride) {
  cuda::let_next_start();
  const unsigned c = (blockIdx.y * blockDim.x + threadIdx.x) * eight;  // a multiple of 8: one scale serves all
  const std::int64_t row = blockIdx.x;
  float v[eight];
  if (c < stride) {
#pragma unroll
    for (unsigned i = 0; i < eight; ++i)
      v[i] = c + i < w.columns ? weight_value<type>(w, first + row, std::int64_t(c + i)) : 0.0f;
  }
  cuda::wait_for_previous();  // until then somebody may still read what lies here
  if (c < stride) store_eight<to>(out + (row * stride + c) * 2, v);
}

__global__ void __launch_bounds__(256)
    scale_rows(float* out, std::int64_t columns, const float* scale, const float* bias) {
  cuda::let_next_start();
  cuda::wait_for_previous();
  const float s = scale ? scale[blockIdx.x] : 1.0f;
  if (s == 1 && !bias) return;
  float* row = out + std::int64_t(blockIdx.x) * columns;
  for (std::int64_t c = std::int64_t(blockIdx.y) * blockDim.x + threadIdx.x; c < columns;
       c += std::int64_t(gridDim.y) * blockDim.x)
    row[c] = row[c] * s + (bias ? bias[c] : 0.0f);
}

unsigned blocks_of(std::int64_t n, std::int64_t of) { return unsigned((n + of - 1) / of); }

}  // namespace

std::int64_t half_stride(std::int64_t columns) { return (columns + eight - 1) / eight * eight; }

void linear_narrow_rows(const cuda::Launch& on, const View& x, Half to, std::byte* rows, float* scale) {
  const DeviceRows from(x);
  const int stride = int(half_stride(from.columns));
  if (to == Half::f16)
    cuda::launch(on, narrow_rows<Half::f16>, dim3(unsigned(x.rows())), 256, 0, from, rows, scale, stride);
  else
    cuda::launch(on, narrow_rows<Half::bf16>, dim3(unsigned(x.rows()), blocks_of(stride, 256 * eight)), 256, 0, from,
                 rows, scale, stride);
}

void linear_widen_weight(const cuda::Launch& on, const View& weight, std::int64_t first, std::int64_t count,
                         std::byte* rows) {
  const DeviceMatrix w = device_matrix(weight);
  const unsigned stride = unsigned(half_stride(w.columns));
  const dim3 grid(unsigned(count), blocks_of(stride, 256 * eight));
  with_weight_type(weight.dtype, [&]<DType type>() {
    constexpr bool blocks = plane_fields(type).count > 0;
    if constexpr (blocks) cuda::launch(on, widen<type, Half::f16>, grid, 256, 0, w, first, rows, stride);
    else if constexpr (type == DType::f8_e4m3)
      cuda::launch(on, widen<type, Half::bf16>, grid, 256, 0, w, first, rows, stride);
    else no_weight_type(type);
  });
}

void linear_scale_rows(const cuda::Launch& on, const View& out, const float* scale, const float* bias) {
  const dim3 grid(unsigned(out.rows()), blocks_of(out.columns(), 1024));
  cuda::launch(on, scale_rows, grid, 256, 0, out.as<float>(), out.columns(), scale, bias);
}

}  // namespace ridge::op
