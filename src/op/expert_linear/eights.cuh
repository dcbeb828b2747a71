// 8 values of a weight's row at once, from a column that is a multiple of 8, and 8 of an activation: what a lane loads
// in one step. Neighbouring lanes have neighbouring columns, so a warp's loads are whole lines of every plane.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>

#include "op/act_value.cuh"
#include "op/weight_value.cuh"

namespace ridge::op::eights {

constexpr bool is_plain(DType t) {
  return t == DType::f32 || t == DType::f16 || t == DType::bf16 || t == DType::f8_e4m3;
}
constexpr bool has(DType t) {
  return is_plain(t) || t == DType::q8_0 || t == DType::q4_0 || t == DType::q4_1 || t == DType::q4_k ||
         t == DType::q5_k || t == DType::q6_k || t == DType::mxfp4;
}

template <class T> __device__ __forceinline__ T weights_at(const std::byte* p) {
  return __ldg(reinterpret_cast<const T*>(p));
}

// Byte i of a word, less `zero`, as a float: through the bits of 2^23 + byte.
__device__ __forceinline__ float byte_float(unsigned word, int i, int zero) {
  return __uint_as_float(__byte_perm(word, 0x4b000000u, 0x7650u | unsigned(i))) - float(8388608 + zero);
}
__device__ __forceinline__ void scaled(uint2 codes, int zero, float scale, float offset, float (&w)[8]) {
#pragma unroll
  for (int i = 0; i < 8; ++i) w[i] = fmaf(scale, byte_float(i < 4 ? codes.x : codes.y, i % 4, zero), offset);
}
__device__ __forceinline__ uint2 bits_of(uint2 v, int shift, unsigned mask) {
  return {(v.x >> shift) & mask, (v.y >> shift) & mask};
}

// Of Q4_K and Q5_K: what the group of values around i is multiplied with, and what is added.
__device__ __forceinline__ void k_scales(const std::byte* header, int i, float& scale, float& offset) {
  using namespace device;
  const float2 dm = __half22float2(weights_at<__half2>(header));
  scale = dm.x * float(scale6(header + 4, i / 32)), offset = -dm.y * float(minimum6(header + 4, i / 32));
}

template <DType type>
__device__ __forceinline__ void load_weights(const DeviceMatrix& m, std::int64_t r, std::int64_t c, float (&w)[8]) {
  constexpr unsigned nibbles = 0x0f0f0f0fu;
  if constexpr (type == DType::f32) {
    const float4 a = weights_at<float4>(m.plane[0] + (r * m.columns + c) * 4),
                 b = weights_at<float4>(m.plane[0] + (r * m.columns + c + 4) * 4);
    w[0] = a.x, w[1] = a.y, w[2] = a.z, w[3] = a.w, w[4] = b.x, w[5] = b.y, w[6] = b.z, w[7] = b.w;
  } else if constexpr (type == DType::f16 || type == DType::bf16) {
    const uint4 v = weights_at<uint4>(m.plane[0] + (r * m.columns + c) * 2);
    const unsigned words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if constexpr (type == DType::bf16) {
        w[2 * i] = __uint_as_float(words[i] << 16), w[2 * i + 1] = __uint_as_float(words[i] & 0xffff0000u);
      } else {
        const float2 two = __half22float2(reinterpret_cast<const __half2&>(words[i]));
        w[2 * i] = two.x, w[2 * i + 1] = two.y;
      }
    }
  } else if constexpr (type == DType::f8_e4m3) {
    const uint2 v = weights_at<uint2>(m.plane[0] + r * m.columns + c);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const unsigned word = i < 2 ? v.x : v.y;
      const __half2_raw two = __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t(word >> (i % 2 * 16)), __NV_E4M3);
      const float2 values = __half22float2(__half2(two));
      w[2 * i] = values.x, w[2 * i + 1] = values.y;
    }
  } else if constexpr (type == DType::q4_k || type == DType::q5_k || type == DType::q6_k) {
    const std::int64_t b = r * m.row_blocks + c / 256;
    const int i = int(c % 256);
    if constexpr (type == DType::q6_k) {
      const uint2 low = weights_at<uint2>(m.plane[0] + b * 128 + i / 128 * 64 + i % 64);
      const uint2 high =
          bits_of(weights_at<uint2>(m.plane[1] + b * 64 + i / 128 * 32 + i % 32), i % 128 / 32 * 2, 0x03030303u);
      const uint2 code = bits_of(low, i % 128 / 64 * 4, nibbles);
      const float scale =
          device::half_at(m.plane[3] + b * 2) * float(std::int8_t(device::byte_at(m.plane[2] + b * 16, i / 16)));
      scaled({code.x | high.x << 4, code.y | high.y << 4}, 32, scale, 0, w);
    } else {
      float scale, offset;
      k_scales(m.plane[0] + b * 16, i, scale, offset);
      uint2 code = bits_of(weights_at<uint2>(m.plane[type == DType::q4_k ? 1 : 2] + b * 128 + i / 64 * 32 + i % 32),
                           i % 64 / 32 * 4, nibbles);
      if constexpr (type == DType::q5_k) {
        const uint2 high = bits_of(weights_at<uint2>(m.plane[1] + b * 32 + i % 32), i / 32, 0x01010101u);
        code = {code.x | high.x << 4, code.y | high.y << 4};
      }
      scaled(code, 0, scale, offset, w);
    }
  } else {
    const std::int64_t b = r * m.row_blocks + c / 32;
    const int i = int(c % 32);
    if constexpr (type == DType::q8_0) {
      const uint2 q = weights_at<uint2>(m.plane[1] + b * 32 + i);
      scaled({q.x ^ 0x80808080u, q.y ^ 0x80808080u}, 128, device::half_at(m.plane[0] + b * 2), 0, w);
    } else {
      const uint2 q = bits_of(weights_at<uint2>(m.plane[1] + b * 16 + i % 16), i / 16 * 4, nibbles);
      if constexpr (type == DType::q4_0) {
        scaled(q, 8, device::half_at(m.plane[0] + b * 2), 0, w);
      } else if constexpr (type == DType::q4_1) {
        const float2 dm = __half22float2(weights_at<__half2>(m.plane[0] + b * 4));
        scaled(q, 0, dm.x, dm.y, w);
      } else {  // mxfp4: sign, 2 bits of exponent, 1 of mantissa; twice the value is an integer
        static_assert(type == DType::mxfp4);
        const unsigned e = unsigned(device::byte_at(m.plane[0] + b, 0));
        const float scale = __uint_as_float(e < 2 ? 0x00200000u << e : (e - 1) << 23);
#pragma unroll
        for (int k = 0; k < 8; ++k) {
          const unsigned code = (k < 4 ? q.x : q.y) >> (k % 4 * 8) & 15, size = code & 7;
          const float value = float(size < 2 ? size : (2 | (size & 1)) << ((size >> 1) - 1));
          w[k] = scale * (code & 8 ? -value : value);
        }
      }
    }
  }
}

// 8 of an activation are v times the result: the codes of an int8 block times its d.
template <bool q8> __device__ __forceinline__ float load_act(const std::byte* row, std::int64_t c, float (&v)[8]) {
  if constexpr (q8) {
    const ActBlock* const block = reinterpret_cast<const ActBlock*>(row) + c / 32;
    const unsigned* const words = reinterpret_cast<const unsigned*>(block->q + c % 32);
    const unsigned a = words[0] ^ 0x80808080u, b = words[1] ^ 0x80808080u;
#pragma unroll
    for (int i = 0; i < 8; ++i) v[i] = byte_float(i < 4 ? a : b, i % 4, 128);
    return block->d;
  } else {
    const float4* const x = reinterpret_cast<const float4*>(row + c * 4);
    const float4 a = x[0], b = x[1];
    v[0] = a.x, v[1] = a.y, v[2] = a.z, v[3] = a.w, v[4] = b.x, v[5] = b.y, v[6] = b.z, v[7] = b.w;
    return 1;
  }
}

__device__ __forceinline__ float dot(const float (&w)[8], const float (&v)[8]) {
  float sum = w[0] * v[0];
#pragma unroll
  for (int i = 1; i < 8; ++i) sum = fmaf(w[i], v[i], sum);
  return sum;
}

}  // namespace ridge::op::eights
