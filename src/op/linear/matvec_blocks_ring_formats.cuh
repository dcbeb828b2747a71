// The block formats of matvec_blocks_ring_sm90.cu: where a lane's columns lie in a stage, and what they add to its sum.
//
// A unit is 256 columns, a chunk 32 / lanes units, `lanes` lanes to each. A warp's part of a row is one or two chunks,
// and its bytes come plane by plane, each plane's units one after the other. A lane keeps its columns of x in
// registers: as int8 and, for each group with a scale of its own, what belongs to it.
//
// Integer sums begin at `magic` (or at that less what an offset of the codes takes off): read as a float they are then
// 2^23 + 2^22 + the sum, and need no conversion. They stay below 2^22.
#pragma once
#include <cuda_fp16.h>

#include "op/linear/matvec_blocks_codes.cuh"

namespace ridge::op::matvec_blocks {

inline constexpr int magic = 0x4b400000;
__device__ __forceinline__ float magic_float(int sum) { return __int_as_float(sum) - 12582912.0f; }

// x in shared memory: codes in order; of each block of 32 its d and its two sums of 16 codes.
struct StagedX {
  const std::byte* codes;
  const uint2* entries;
  __device__ __forceinline__ uint4 sixteen(int column) const { return *reinterpret_cast<const uint4*>(codes + column); }
  __device__ __forceinline__ float d(int block) const { return __uint_as_float(entries[block].x); }
  __device__ __forceinline__ int sum(int block, int half) const {
    return int(entries[block].y << (half ? 0 : 16)) >> 16;
  }
  __device__ __forceinline__ int sum(int block) const { return sum(block, 0) + sum(block, 1); }
  __device__ __forceinline__ float d_sum(int block) const { return __fmul_rn(d(block), float(sum(block))); }
};

template <bool is_signed> __device__ __forceinline__ int add_four(unsigned w, unsigned x, int sum) {
#if __CUDA_ARCH__ >= 610
  if constexpr (is_signed) asm("dp4a.s32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(w), "r"(x));
  else asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(w), "r"(x));
#endif
  return sum;
}
template <bool is_signed> __device__ __forceinline__ int add_sixteen(const uint4& w, const uint4& x, int sum) {
  return add_four<is_signed>(
      w.w, x.w, add_four<is_signed>(w.z, x.z, add_four<is_signed>(w.y, x.y, add_four<is_signed>(w.x, x.x, sum))));
}
__device__ __forceinline__ uint4 masked(const uint4& v, unsigned mask) {
  return {v.x & mask, v.y & mask, v.z & mask, v.w & mask};
}

__device__ __forceinline__ uint4 shared16(const std::byte* p) { return *reinterpret_cast<const uint4*>(p); }
__device__ __forceinline__ unsigned shared4(const std::byte* p) { return *reinterpret_cast<const unsigned*>(p); }
__device__ __forceinline__ unsigned shared2(const std::byte* p) { return *reinterpret_cast<const unsigned short*>(p); }

// Lanes of 32 bytes read the two halves in an order in which eight lanes meet no bank twice.
__device__ __forceinline__ int first_half(int lane) { return lane / 4 % 2; }

// A format:
//   lanes           to a unit
//   planes, unit    planes, and the bytes of a unit in each
//   shifts          the last plane's parts may begin at any even byte: `shift` more than a multiple of 16
//   Lane            a lane's columns of one chunk: from the lane and its first column, with x staged
//   row             what a stage's row adds to the lane's sum. at(p): where plane p of the chunk begins

// Where plane p of a stage begins; after the last, where the stage ends.
template <class F> __host__ __device__ constexpr int plane_at(int p, int chunks) {
  int at = 0;
  for (int i = 0; i < p; ++i) at += F::unit(i) * (32 / F::lanes) * chunks;
  return at;
}
// A last plane that shifts: 16 bytes more, and after them the shift.
template <class F> __host__ __device__ constexpr int stage_bytes(int chunks) {
  const int planes = plane_at<F>(F::planes, chunks);
  return F::shifts ? (planes + 15) / 16 * 16 + 32 : planes;
}
template <class F> __host__ __device__ constexpr int shift_at(int chunks) { return stage_bytes<F>(chunks) - 16; }

// Chunk `chunk` of a stage.
template <class F, int chunks, int chunk> struct Stage {
  const std::byte* begin;
  __device__ __forceinline__ const std::byte* at(int p) const {
    return begin + (plane_at<F>(p, chunks) + chunk * F::unit(p) * (32 / F::lanes));
  }
  __device__ __forceinline__ int shift() const { return *reinterpret_cast<const int*>(begin + shift_at<F>(chunks)); }
};

struct RingQ8_0 {
  static constexpr int lanes = 8, planes = 2;
  __host__ __device__ static constexpr int unit(int plane) { return plane == 0 ? 16 : 256; }
  static constexpr bool shifts = false;
  struct Lane {
    uint4 x[2];
    float d;
    int q;  // where they are in the plane
    __device__ __forceinline__ Lane(const StagedX& from, int lane, int column) {
      const int half = first_half(lane);
      x[0] = from.sixteen(column + 16 * half), x[1] = from.sixteen(column + 16 * (1 - half));
      d = from.d(column / 32);
      q = 32 * lane + 16 * half;
    }
    template <class S> __device__ __forceinline__ float row(const S& stage) const {
      const uint4 first = shared16(stage.at(1) + q), second = shared16(stage.at(1) + (q ^ 16));
      const float weight_d = half_of(shared2(stage.at(0) + q / 32 * 2));
      return magic_float(add_sixteen<true>(second, x[1], add_sixteen<true>(first, x[0], magic))) * (weight_d * d);
    }
  };
};

// Two blocks of 32 to a lane: first_half's first.
template <bool has_minimum> struct RingNibbles {
  static constexpr int lanes = 4, planes = 2;
  __host__ __device__ static constexpr int unit(int plane) { return plane == 0 ? has_minimum ? 32 : 16 : 128; }
  static constexpr bool shifts = false;
  struct Lane {
    uint4 x[2][2];
    float d[2], d_sum[2];
    int zero[2];  // of Q4_0: what 8 in each code adds
    int q;
    __device__ __forceinline__ Lane(const StagedX& from, int lane, int column) {
      const int half = first_half(lane);
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int which = i == 0 ? half : 1 - half, block = column / 32 + which;
        x[i][0] = from.sixteen(32 * block), x[i][1] = from.sixteen(32 * block + 16);
        d[i] = from.d(block), d_sum[i] = from.d_sum(block), zero[i] = magic - 8 * from.sum(block);
      }
      q = 32 * lane + 16 * half;
    }
    template <class S> __device__ __forceinline__ float row(const S& stage) const {
      const uint4 codes[2] = {shared16(stage.at(1) + q), shared16(stage.at(1) + (q ^ 16))};
      const std::byte* const scales = stage.at(0);  // one for each 16 bytes of codes
      const int first = has_minimum ? q / 4 : q / 8, step = has_minimum ? 4 : 2;
      float sum = 0;
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int low = add_sixteen<false>(masked(codes[i], low_nibbles), x[i][0], has_minimum ? magic : zero[i]);
        const int high = add_sixteen<false>(masked(codes[i], low_nibbles << 4), x[i][1], magic);  // 16 times too large
        const float both = fmaf(magic_float(high), 0.0625f, magic_float(low));
        const int scale = i == 0 ? first : first ^ step;
        if constexpr (has_minimum) {
          const float2 dm = halves_of(shared4(scales + scale));
          sum = fmaf(dm.x * d[i], both, sum);
          sum = fmaf(dm.y, d_sum[i], sum);
        } else {
          sum = fmaf(half_of(shared2(scales + scale)) * d[i], both, sum);
        }
      }
      return sum;
    }
  };
};

// Two groups of 32 to a lane: the low and the high nibbles of 32 bytes.
struct RingQ4_K {
  static constexpr int lanes = 4, planes = 2;
  __host__ __device__ static constexpr int unit(int plane) { return plane == 0 ? 16 : 128; }
  static constexpr bool shifts = false;
  struct Lane {
    uint4 x[2][2];         // [group][half], first_half's first
    float d[2], d_sum[2];  // d[1]: a sixteenth, as the high nibbles are taken where they are
    int q;
    unsigned bytes;             // the permutation that finds the groups' bytes in two words
    unsigned plain, low, high;  // which bits are from where: groups 0 to 3 have 6 bits together, 4 to 7 have 4 and 2
    __device__ __forceinline__ Lane(const StagedX& from, int lane, int column) {
      const int half = first_half(lane), pair = lane % 4;
#pragma unroll
      for (int g = 0; g < 2; ++g) {
        x[g][0] = from.sixteen(column + 32 * g + 16 * half), x[g][1] = from.sixteen(column + 32 * g + 16 * (1 - half));
        d[g] = from.d(column / 32 + g) * (g ? 0.0625f : 1.0f), d_sum[g] = from.d_sum(column / 32 + g);
      }
      q = 32 * lane + 16 * half;
      bytes = pair % 2 ? 0x7632u : 0x5410u;
      plain = pair < 2 ? 0x3f3f3f3fu : 0, low = pair < 2 ? 0 : 0x0f0f0f0fu, high = pair < 2 ? 0 : 0x30303030u;
    }
    template <class S> __device__ __forceinline__ float row(const S& stage) const {
      const uint4 first = shared16(stage.at(1) + q), second = shared16(stage.at(1) + (q ^ 16)),
                  h = shared16(stage.at(0) + q / 128 * 16);
      const int low_sum = add_sixteen<false>(masked(second, low_nibbles), x[0][1],
                                             add_sixteen<false>(masked(first, low_nibbles), x[0][0], magic));
      const int high_sum = add_sixteen<false>(masked(second, low_nibbles << 4), x[1][1],
                                              add_sixteen<false>(masked(first, low_nibbles << 4), x[1][0], magic));
      const unsigned six = __byte_perm(h.y, h.z, bytes), four = __byte_perm(h.w, h.w >> 4, bytes);
      const unsigned v = (six & plain) | (four & low) | ((six >> 2) & high);  // two scales, two minimums
      const float2 dm = halves_of(h.x);
      const float scales =
          fmaf(byte_float(v, 1) * d[1], magic_float(high_sum), byte_float(v, 0) * d[0] * magic_float(low_sum));
      const float minimums = fmaf(byte_float(v, 3), d_sum[1], byte_float(v, 2) * d_sum[0]);
      return fmaf(dm.x, scales, -(dm.y * minimums));
    }
  };
};

// Of half h of a block, the codes e of each 32 columns: four groups of 16 to a lane.
struct RingQ6_K {
  static constexpr int lanes = 4, planes = 4;
  __host__ __device__ static constexpr int unit(int plane) {
    return plane == 0 ? 128 : plane == 1 ? 64 : plane == 2 ? 16 : 2;
  }
  static constexpr bool shifts = true;
  struct Lane {
    uint4 x[4];
    float d[4];
    int zero[4];  // what 32 in each code adds
    int q, bits;
    unsigned bytes;
    __device__ __forceinline__ Lane(const StagedX& from, int lane, int column) {
      const int unit = lane / 4, h = lane % 4 / 2, e = lane % 2,
                begin = column - 64 * (lane % 4) + 128 * h;  // of the half
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        const int block = begin / 32 + s;
        x[s] = from.sixteen(32 * block + 16 * e);
        d[s] = from.d(block), zero[s] = magic - 32 * from.sum(block, e);
      }
      q = unit * 128 + h * 64 + e * 16, bits = 16 * lane;
      bytes = e ? 0x7531u : 0x6420u;
    }
    __device__ __forceinline__ static unsigned code(unsigned q, unsigned high, int s) {
      return (s < 2 ? q & low_nibbles : (q >> 4) & low_nibbles) |
             ((s < 2 ? high << (4 - 2 * s) : high >> (2 * s - 4)) & 0x30303030u);
    }
    template <class S> __device__ __forceinline__ float row(const S& stage) const {
      const uint4 low[2] = {shared16(stage.at(0) + q), shared16(stage.at(0) + q + 32)},
                  high = shared16(stage.at(1) + bits);
      const uint2 eight = *reinterpret_cast<const uint2*>(stage.at(2) + q / 64 * 8);
      const unsigned four = __byte_perm(eight.x, eight.y, bytes) ^ 0x80808080u;
      float sum = 0;
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        const uint4& v = low[s % 2];
        const uint4 codes{code(v.x, high.x, s), code(v.y, high.y, s), code(v.z, high.z, s), code(v.w, high.w, s)};
        sum = fmaf(byte_float(four, s, 128) * d[s], magic_float(add_sixteen<false>(codes, x[s], zero[s])), sum);
      }
      return half_of(shared2(stage.at(3) + q / 128 * 2 + stage.shift())) * sum;
    }
  };
};

}  // namespace ridge::op::matvec_blocks
