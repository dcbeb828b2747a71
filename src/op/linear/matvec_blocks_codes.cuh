// What the formats of matvec_blocks.cuh are written with: loads, the product of the tensor cores, and how the codes of
// a row are spread over its lanes.
#pragma once
#include <cuda_fp16.h>

#include <cstdint>

#include "op/linear/matvec_plain.cuh"
#include "tensor/blocks.h"

namespace ridge::op::matvec_blocks {

inline constexpr int warps = 16, threads = 32 * warps;
inline constexpr int piece_columns = 256, act_piece_blocks = piece_columns / 32;
inline constexpr unsigned low_nibbles = 0x0f0f0f0fu;

// ---- instructions ----

using matvec::stream16;
// Scales and high bits: their sectors are shared with other lanes and warps.
__device__ __forceinline__ uint4 load16(const std::byte* p) {
  uint4 v;
  asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
  return v;
}
__device__ __forceinline__ uint2 load8(const std::byte* p) {
  uint2 v;
  asm volatile("ld.global.nc.v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(p));
  return v;
}
__device__ __forceinline__ unsigned load4(const std::byte* p) {
  unsigned v;
  asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(v) : "l"(p));
  return v;
}
__device__ __forceinline__ unsigned load2(const std::byte* p) {
  unsigned short v;
  asm volatile("ld.global.nc.u16 %0, [%1];" : "=h"(v) : "l"(p));
  return v;
}
__device__ __forceinline__ unsigned load1(const std::byte* p) {
  unsigned v;
  asm volatile("ld.global.nc.u8 %0, [%1];" : "=r"(v) : "l"(p));
  return v;
}
// 4 bytes to shared memory, on their way until copies_done(). Of what the kernel before wrote.
__device__ __forceinline__ void copy4(std::byte* to, const unsigned* from) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(unsigned(__cvta_generic_to_shared(to))), "l"(from)
               : "memory");
#endif
}
__device__ __forceinline__ void copies_done() {  // this thread's
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}
template <bool is_signed>
__device__ __forceinline__ void multiply_add(int (&c)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3,
                                             unsigned b0, unsigned b1) {
#if __CUDA_ARCH__ >= 800
  if constexpr (is_signed)
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  else
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
#endif
}
__device__ __forceinline__ void all_warps() {  // a barrier that warps may reach at different places of the program
  asm volatile("bar.sync 1, %0;" ::"n"(threads) : "memory");
}

// ---- what formats need ----

struct Place {  // of a piece of one row, as a lane sees it
  int block;    // its first, counted from the segment's first
  int last;     // block of the row, counted from the piece's first
  int row_blocks;
  int t;  // lane % 4
};

__device__ __forceinline__ const std::byte* item(const std::byte* plane, int index, int bytes) {
  return plane + std::int64_t(index) * bytes;
}

// Which block of a piece is loaded as number i. What lies beyond the row is multiplied with zeros.
struct Inside {  // rows of whole pieces
  static constexpr bool always = true, pairs = true;
  __device__ __forceinline__ int operator()(int i) const { return i; }
};
struct Held {
  static constexpr bool always = false;
  int last;
  bool pairs;  // rows of an even number of blocks: fields of 2 blocks are aligned
  __device__ __forceinline__ int operator()(int i) const { return min(i, last); }
};
template <class F> __device__ __forceinline__ void within_row(const Place& at, F load) {
  if (at.row_blocks % act_piece_blocks == 0) load(Inside());
  else load(Held{at.last, at.row_blocks % 2 == 0});
}

// The halves of blocks i and i + 1 of the piece, i even.
template <class Which>
__device__ __forceinline__ unsigned two_halves(const std::byte* plane, const Place& at, int i, Which which) {
  if (Which::always || which.pairs) return load4(item(plane, at.block + which(i + 1) - 1, 2));
  return load2(item(plane, at.block + which(i), 2)) | load2(item(plane, at.block + which(i + 1), 2)) << 16;
}
// The same of 4 bytes each.
template <class Which>
__device__ __forceinline__ uint2 two_words(const std::byte* plane, const Place& at, int i, Which which) {
  if (Which::always || which.pairs) return load8(item(plane, at.block + which(i + 1) - 1, 4));
  return {load4(item(plane, at.block + which(i), 4)), load4(item(plane, at.block + which(i + 1), 4))};
}

__device__ __forceinline__ float2 halves_of(unsigned bits) {
  return __half22float2(reinterpret_cast<const __half2&>(bits));
}
__device__ __forceinline__ float half_of(unsigned bits) { return halves_of(bits).x; }
// Byte `i` of v as a float, less `zero`: through the bits of 2^23 + byte.
__device__ __forceinline__ float byte_float(unsigned v, int i, int zero = 0) {
  return __uint_as_float(__byte_perm(v, 0x4b000000u, 0x7650u | unsigned(i))) - float(8388608 + zero);
}

__device__ __forceinline__ unsigned word(const uint2& v, int i) { return i == 0 ? v.x : v.y; }
__device__ __forceinline__ unsigned word(const uint4& v, int i) {
  return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}

// Nibbles as indices into a table of 16 signed bytes: the low ones of the 4 bytes of q, or the high ones. A permutation
// looks up 4 nibbles in 8 bytes of the table, so there is one for each half of it, and a third chooses.
template <const std::int8_t (&table)[16]> __device__ __forceinline__ unsigned four_of_table(unsigned q, int high) {
  constexpr auto entries = [](int i) {
    return unsigned(std::uint8_t(table[i])) | unsigned(std::uint8_t(table[i + 1])) << 8 |
           unsigned(std::uint8_t(table[i + 2])) << 16 | unsigned(std::uint8_t(table[i + 3])) << 24;
  };
  constexpr unsigned table0 = entries(0), table4 = entries(4), table8 = entries(8), table12 = entries(12);
  const unsigned index = q & 0x77777777u, half = 0x32103210u | ((q & 0x88888888u) >> 1);
  const unsigned first = __byte_perm(__byte_perm(table0, table4, index), __byte_perm(table8, table12, index), half);
  const unsigned second =
      __byte_perm(__byte_perm(table0, table4, index >> 16), __byte_perm(table8, table12, index >> 16), half >> 16);
  return __byte_perm(first, second, high ? 0x7531 : 0x6420);
}

// What stands beside an activation block's d in shared memory.
enum class Beside {
  nothing,     // codes are signed
  zero_point,  // -offset * (sum of the group), to be added to the integer sum
  minimum      // d * (sum of the group) * minimum_sign, to be multiplied with the minimums
};

// Of groups 2 (t % 2) and one more of a sum. A lane scales all sums, or with one token (`single`) every other one, from
// t / 2 on.
struct Scales {
  float scale[2], minimum[2];
};
template <bool single> constexpr int lane_sums(int sums) { return single ? sums / 2 : sums; }
template <bool single> __device__ __forceinline__ int lane_sum(int k, int t) { return single ? 2 * k + t / 2 : k; }

// How a row's 256 columns of a piece are spread over its 4 lanes. A piece has `sums` integer sums (C) of 4 groups each,
// over `parts` parts of 16 codes in every lane. in_group: whether lane t's codes of `part` are in group c of a sum;
// x_at: where the activations are that they are multiplied with then, of part 0 and sum 0; x_sum, pair_sum: how much
// further for each sum.
struct Blocks32 {  // lane t has block t of each 4: codes 0..15, then 16..31
  static constexpr int sums = 2, parts = 2, group = 32, x_sum = 128, pair_sum = 4, x_pad = 16;
  static constexpr bool parts_apart = false;  // part 1 is in the same groups, 16 activations further
  __device__ static bool in_group(int c, int t, int) { return c == t; }
  __device__ static int x_at(int c, int) { return 32 * c; }
  __device__ static int pair_at(int odd) { return 2 * odd; }  // the first of 2 groups that lane t, odd = t % 2, scales
};
struct Bytes32 : Blocks32 {  // 16 bytes in a part: blocks 0 and 1 in part 0, blocks 2 and 3 in part 1
  static constexpr int x_pad = 64;
  static constexpr bool parts_apart = true;
  __device__ static bool in_group(int c, int t, int part) { return c == 2 * part + t / 2; }
  __device__ static int x_at(int c, int t) { return 32 * c + 16 * (t % 2); }
};
struct Pairs64 : Blocks32 {  // half t % 2 of the 32 bytes t / 2: the low nibbles are a group, the high ones the next
  static constexpr int x_pad = 32;
  static constexpr bool parts_apart = true;
  __device__ static bool in_group(int c, int t, int part) { return c == 2 * (t / 2) + part; }
  __device__ static int x_at(int c, int t) { return 32 * c + 16 * (t % 2); }
};
struct Groups16 {  // 16 codes of each 32-column part s of half t / 2 of the block
  static constexpr int sums = 4, parts = 1, group = 16, x_sum = 32, pair_sum = 2, x_pad = 32;
  static constexpr bool parts_apart = false;
  __device__ static bool in_group(int c, int t, int) { return c == t; }
  __device__ static int x_at(int c, int) { return 128 * (c / 2) + 16 * (c % 2); }
  __device__ static int pair_at(int odd) { return 8 * odd; }
};

// A format is a struct of one of these, and of:
//   piece_blocks   blocks of a row in a piece
//   depth          pieces that a warp has under way, with one token
//   wide           whether several tokens take 16 rows at once
//   Piece          what a lane loads of a piece of a row
//   load           loads it: at.block + 0 .. piece_blocks - 1 are the row's blocks
//   codes          16 codes of a part of a sum, as bytes
//   scales         those of sum lane_sum(k, t)
struct FormatBase {
  static constexpr bool is_signed = false;
  static constexpr Beside beside = Beside::nothing;
  static constexpr int offset = 0;              // the code that stands for zero
  static constexpr int minimum_sign = 1;        // -1: minimums are taken off
  static constexpr bool high_in_place = false;  // codes of odd groups are left in the high nibbles, 16 times too large
};

}  // namespace ridge::op::matvec_blocks
