// One value of a weight on the GPU, whatever its type: bitwise what the file's decoder gives (tensor/decode_*.cpp). For
// kernels that are right before they are fast, and for rows of an embedding.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>

#include "op/device_matrix.h"
#include "tensor/blocks.h"
#include "tensor/planes.h"

namespace ridge::op {

namespace device {

__device__ __forceinline__ float half_at(const std::byte* p, int i = 0) {
  return __half2float(reinterpret_cast<const __half*>(p)[i]);
}
__device__ __forceinline__ int byte_at(const std::byte* p, int i) { return int(std::uint8_t(p[i])); }
__device__ __forceinline__ int nibble_of(const std::byte* q, int i) {
  return (byte_at(q, i % 16) >> (i / 16 * 4)) & 15;
}  // of 32
__device__ __forceinline__ int fifth_of(const std::byte* high, int i) { return (byte_at(high, i / 8) >> (i % 8)) & 1; }
__device__ __forceinline__ int two_bits_of(const std::byte* q, int i) {
  return (byte_at(q, i / 128 * 32 + i % 32) >> (i % 128 / 32 * 2)) & 3;
}
__device__ __forceinline__ int k_nibble(const std::byte* q, int i) {
  return (byte_at(q, i / 64 * 32 + i % 32) >> (i % 64 / 32 * 4)) & 15;
}
__device__ __forceinline__ int scale6(const std::byte* s, int g) {
  return g < 4 ? byte_at(s, g) & 63 : (byte_at(s, g + 4) & 15) | (byte_at(s, g - 4) >> 6) << 4;
}
__device__ __forceinline__ int minimum6(const std::byte* s, int g) {
  return g < 4 ? byte_at(s, g + 4) & 63 : (byte_at(s, g + 4) >> 4) | (byte_at(s, g) >> 6) << 4;
}
__device__ __forceinline__ float times(float a, float b) { return __fmul_rn(a, b); }
__device__ __forceinline__ float plus(float a, float b) { return __fadd_rn(a, b); }

static __constant__ const std::int8_t iq4_table[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                       1,    13,   25,  38,  53,  69,  89,  113};
static __constant__ const std::int8_t mxfp4_table[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

}  // namespace device

// Value `c` of row `r`. The fields of each format: plane_fields (tensor/planes.h); the formulas: tensor/blocks.h.
template <DType type> __device__ float weight_value(const DeviceMatrix& m, std::int64_t r, std::int64_t c) {
  using namespace device;
  constexpr PlaneFields fields = plane_fields(type);
  if constexpr (fields.count == 0) {
    const std::int64_t at = r * m.columns + c;
    if constexpr (type == DType::f32) return reinterpret_cast<const float*>(m.plane[0])[at];
    if constexpr (type == DType::f16) return __half2float(reinterpret_cast<const __half*>(m.plane[0])[at]);
    if constexpr (type == DType::bf16) return __bfloat162float(reinterpret_cast<const __nv_bfloat16*>(m.plane[0])[at]);
    if constexpr (type == DType::f8_e4m3) return float(reinterpret_cast<const __nv_fp8_e4m3*>(m.plane[0])[at]);
  } else {
    constexpr int elems = type == DType::q2_k || type == DType::q3_k || type == DType::q4_k || type == DType::q5_k ||
                                  type == DType::q6_k || type == DType::iq4_xs
                              ? 256
                              : 32;
    const std::int64_t b = r * m.row_blocks + c / elems;
    const int i = int(c % elems);
    const std::byte* f[4];
    for (int n = 0; n < fields.count; ++n) f[n] = m.plane[n] + b * fields.bytes[std::size_t(n)];
    if constexpr (type == DType::q8_0)
      return times(half_at(f[0]), float(reinterpret_cast<const std::int8_t*>(f[1])[i]));
    if constexpr (type == DType::q4_0) return times(half_at(f[0]), float(nibble_of(f[1], i) - 8));
    if constexpr (type == DType::q4_1) return plus(times(half_at(f[0]), float(nibble_of(f[1], i))), half_at(f[0], 1));
    if constexpr (type == DType::q5_0)
      return times(half_at(f[0]), float((nibble_of(f[2], i) | fifth_of(f[1], i) << 4) - 16));
    if constexpr (type == DType::q5_1)
      return plus(times(half_at(f[0]), float(nibble_of(f[2], i) | fifth_of(f[1], i) << 4)), half_at(f[0], 1));
    if constexpr (type == DType::q2_k) {
      const int s = byte_at(f[0], i / 16);
      return plus(times(times(half_at(f[2]), float(s & 15)), float(two_bits_of(f[1], i))),
                  -times(half_at(f[2], 1), float(s >> 4)));
    }
    if constexpr (type == DType::q3_k) {
      const int g = i / 16;
      const int s = ((byte_at(f[2], g % 8) >> (g / 8 * 4)) & 15) | ((byte_at(f[2], 8 + g % 4) >> (g / 4 * 2)) & 3) << 4;
      const int high = (byte_at(f[0], i % 32) >> (i / 32)) & 1;
      return times(times(half_at(f[3]), float(s - 32)), float(two_bits_of(f[1], i) + 4 * high - 4));
    }
    if constexpr (type == DType::q4_k)
      return plus(times(times(half_at(f[0]), float(scale6(f[0] + 4, i / 32))), float(k_nibble(f[1], i))),
                  -times(half_at(f[0], 1), float(minimum6(f[0] + 4, i / 32))));
    if constexpr (type == DType::q5_k) {
      const int high = (byte_at(f[1], i % 32) >> (i / 32)) & 1;
      return plus(times(times(half_at(f[0]), float(scale6(f[0] + 4, i / 32))), float(k_nibble(f[2], i) | high << 4)),
                  -times(half_at(f[0], 1), float(minimum6(f[0] + 4, i / 32))));
    }
    if constexpr (type == DType::q6_k) {
      const int low = (byte_at(f[0], i / 128 * 64 + i % 64) >> (i % 128 / 64 * 4)) & 15;
      return times(times(half_at(f[3]), float(std::int8_t(byte_at(f[2], i / 16)))),
                   float((low | two_bits_of(f[1], i) << 4) - 32));
    }
    if constexpr (type == DType::iq4_nl) return times(half_at(f[0]), float(iq4_table[nibble_of(f[1], i)]));
    if constexpr (type == DType::iq4_xs) {
      const int g = i / 32, low = (byte_at(f[0], 4 + g / 2) >> (g % 2 * 4)) & 15;
      const int high = (reinterpret_cast<const std::uint16_t*>(f[0])[1] >> (2 * g)) & 3;
      return times(times(half_at(f[0]), float((low | high << 4) - 32)),
                   float(iq4_table[nibble_of(f[1] + 16 * g, i % 32)]));
    }
    if constexpr (type == DType::mxfp4) {
      const unsigned e = unsigned(byte_at(f[0], 0));
      const float scale = __uint_as_float(e < 2 ? 0x00200000u << e : (e - 1) << 23);
      return times(scale, float(mxfp4_table[nibble_of(f[1], i)]));
    }
  }
  return 0;
}

// Calls f.template operator()<type>() for the type a weight has.
template <class F> void with_weight_type(DType type, F&& f) {
  switch (type) {
#define RIDGE_TYPE(T) \
  case DType::T: return f.template operator()<DType::T>();
    RIDGE_TYPE(f32)
    RIDGE_TYPE(f16)
    RIDGE_TYPE(bf16) RIDGE_TYPE(f8_e4m3) RIDGE_TYPE(q8_0) RIDGE_TYPE(q4_0) RIDGE_TYPE(q4_1) RIDGE_TYPE(q5_0)
        RIDGE_TYPE(q5_1) RIDGE_TYPE(q2_k) RIDGE_TYPE(q3_k) RIDGE_TYPE(q4_k) RIDGE_TYPE(q5_k) RIDGE_TYPE(q6_k)
            RIDGE_TYPE(iq4_nl) RIDGE_TYPE(iq4_xs) RIDGE_TYPE(mxfp4)
#undef RIDGE_TYPE
                default : no_weight_type(type);
  }
}

}  // namespace ridge::op
