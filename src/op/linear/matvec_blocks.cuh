// Few rows of int8 activations with block-quantized weights: the frame. The formats are in matvec_blocks_*_sm80.cu.
//
// The weights stream by once for every 1, 2, 4 or 8 tokens, straight from their planes into registers, and are multiplied
// by the tensor cores' int8 product of 16 x 32 with 32 x 8 (mma.m16n8k32). A are codes of the weights: lane 4 g + t holds
// what it loaded from row g. B are the activations, masked: the lanes t of a row hold codes of different groups (each
// with a scale of its own), so column n = 4 i + c of B has values where lane t's codes belong to group c, and zeros
// elsewhere. So C gets the integer sums of 4 groups without a shuffle, and a single token costs the multiprocessor fewer
// instructions than dp4a would. What i and rows 8 to 15 of A are for:
//
//   one token      i = 0 and 1 are two sets of 4 groups of one row, rows 8 to 15 of A its codes of the second set
//   several        i = 0 and 1 are two tokens, rows 8 to 15 of A are 8 more rows, or zeros
//
//   piece   8 (or 16) rows by 256 columns: what a warp loads and multiplies in one step, `depth` steps ahead
//   tile    these rows, all columns
//
// A block has a range of tiles, and its 16 warps take their pieces in turn, so that they read neighbouring bytes and
// all have work whatever the size. A tile's sum is over at most 16 partial sums: number i is of the pieces p with
// p % 16 == i, whichever warp had them. So a row's result depends neither on the other rows nor on how many tokens or
// multiprocessors there are: bit for bit.
#pragma once
#include <cuda_fp16.h>

#include <cstdint>

#include "cuda/launch.cuh"
#include "tensor/blocks.h"
#include "tensor/dtype.h"

namespace ridge::op::matvec_blocks {

inline constexpr int warps = 16, threads = 32 * warps;
inline constexpr int piece_columns = 256, act_piece_blocks = piece_columns / 32;
inline constexpr int act_words = int(sizeof(ActBlock) / 4), act_q_word = 3;
inline constexpr int most_segments = 8;
inline constexpr int zero_bytes = 256;  // of zeros, at the beginning of the shared memory
inline constexpr unsigned low_nibbles = 0x0f0f0f0fu;

struct Segment {  // weights of one launch all have one type and one number of columns
  const std::byte* plane[4];
  const float* bias;  // or null
  float* out;
  int rows, last_row_block;      // the first block of the last row
  int first_tile, end_tile;      // of the launch's tiles
};

struct Task {
  const unsigned* x;             // rows of ActBlocks, as words
  int tokens, x_blocks;          // ActBlocks of a row
  int pieces, row_blocks;        // of a tile; weight blocks of a row
  int tile_step, piece_step;     // 16 pieces further
  int block_step, block_return;  // the same in blocks of a row of the tile; what a new tile adds to it
  int tiles, segments;
  Segment segment[most_segments];
};

// ---- instructions ----

// Weights are read once. Volatile: they are to stay in front of the wait for the previous kernel.
__device__ __forceinline__ uint4 stream16(const std::byte* p) {
  uint4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
  return v;
}
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
__device__ __forceinline__ unsigned load_x(const unsigned* p) {  // written by the kernel before
  unsigned v;
  asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p));
  return v;
}
template <bool is_signed>
__device__ __forceinline__ void multiply_add(int (&c)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1) {
#if __CUDA_ARCH__ >= 800
  if constexpr (is_signed)
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  else
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
#endif
}
__device__ __forceinline__ void all_warps() {  // a barrier that warps may reach at different places of the program
  asm volatile("bar.sync 1, %0;" ::"n"(threads) : "memory");
}

// ---- what formats need ----

struct Place {  // of a piece of one row, as a lane sees it
  int block;    // its first, counted from the segment's first
  int last;     // block of the row, counted from the piece's first
  bool even;    // rows of an even number of blocks: fields of 2 blocks are aligned
  int t;        // lane % 4
};

__device__ __forceinline__ const std::byte* item(const std::byte* plane, int index, int bytes) { return plane + std::int64_t(index) * bytes; }

// load(clamp) with clamp(i) = i, or what holds it in the row. What lies beyond is multiplied with zeros.
template <class F> __device__ __forceinline__ void within_row(const Place& at, F load) {
  if (at.last >= act_piece_blocks - 1) load([](int i) { return i; });
  else load([&](int i) { return min(i, at.last); });
}

// The halves of blocks i and i + 1 of the piece, i even.
template <class Clamp> __device__ __forceinline__ unsigned two_halves(const std::byte* plane, const Place& at, int i, Clamp clamp) {
  if (at.even) return load4(item(plane, at.block + clamp(i + 1) - 1, 2));
  return load2(item(plane, at.block + clamp(i), 2)) | load2(item(plane, at.block + clamp(i + 1), 2)) << 16;
}
// The same of 4 bytes each.
template <class Clamp> __device__ __forceinline__ uint2 two_words(const std::byte* plane, const Place& at, int i, Clamp clamp) {
  if (at.even) return load8(item(plane, at.block + clamp(i + 1) - 1, 4));
  return {load4(item(plane, at.block + clamp(i), 4)), load4(item(plane, at.block + clamp(i + 1), 4))};
}

__device__ __forceinline__ float2 halves_of(unsigned bits) { return __half22float2(reinterpret_cast<const __half2&>(bits)); }
__device__ __forceinline__ float half_of(unsigned bits) { return halves_of(bits).x; }
// Byte `i` of v as a float, less `zero`: through the bits of 2^23 + byte.
__device__ __forceinline__ float byte_float(unsigned v, int i, int zero = 0) {
  return __uint_as_float(__byte_perm(v, 0x4b000000u, 0x7650u | unsigned(i))) - float(8388608 + zero);
}

__device__ __forceinline__ unsigned word(const uint2& v, int i) { return i == 0 ? v.x : v.y; }
__device__ __forceinline__ unsigned word(const uint4& v, int i) { return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w; }

// Nibbles as indices into a table of 16 signed bytes: the low ones of the 4 bytes of q, or the high ones. A permutation
// looks up 4 nibbles in 8 bytes of the table, so there is one for each half of it, and a third chooses.
template <const std::int8_t (&table)[16]> __device__ __forceinline__ unsigned four_of_table(unsigned q, int high) {
  constexpr auto entries = [](int i) {
    return unsigned(std::uint8_t(table[i])) | unsigned(std::uint8_t(table[i + 1])) << 8 | unsigned(std::uint8_t(table[i + 2])) << 16 |
           unsigned(std::uint8_t(table[i + 3])) << 24;
  };
  constexpr unsigned table0 = entries(0), table4 = entries(4), table8 = entries(8), table12 = entries(12);
  const unsigned index = q & 0x77777777u, half = 0x32103210u | ((q & 0x88888888u) >> 1);
  const unsigned first = __byte_perm(__byte_perm(table0, table4, index), __byte_perm(table8, table12, index), half);
  const unsigned second = __byte_perm(__byte_perm(table0, table4, index >> 16), __byte_perm(table8, table12, index >> 16), half >> 16);
  return __byte_perm(first, second, high ? 0x7531 : 0x6420);
}

// What stands beside an activation block's d in shared memory.
enum class Beside {
  nothing,  // codes are signed
  start,    // -offset * (sum of the group), with which the integer sum begins
  minimum   // d * (sum of the group) * minimum_sign, to be multiplied with the minimums
};

// Of groups 2 (t % 2) and one more, for each of the sums that a lane scales: all, or with one token (`single`) every other
// one, from t / 2 on.
template <int count, bool has_minimum> struct Scales {
  float scale[count][2];
  float minimum[has_minimum ? count : 1][2];
};
template <bool single> constexpr int lane_sums(int sums) { return single ? sums / 2 : sums; }
template <bool single> __device__ __forceinline__ int lane_sum(int k, int t) { return single ? 2 * k + t / 2 : k; }

// How a row's 256 columns of a piece are spread over its 4 lanes. A piece has `sums` integer sums (C) of 4 groups each,
// over `parts` parts of 16 codes in every lane. x_at: where the activations are that lane t's codes of `part` are
// multiplied with for group c of sum 0, or -1: they are not in that group. x_sum, pair_sum: how much further for each sum.
struct Blocks32 {  // lane t has block t of each 4: codes 0..15, then 16..31
  static constexpr int sums = 2, parts = 2, group = 32, x_sum = 128, pair_sum = 4, x_pad = 16;
  static constexpr bool parts_apart = false;  // part 1 is 16 bytes after part 0
  __device__ static int x_at(int c, int t, int) { return c == t ? 32 * c : -1; }
  __device__ static int pair_at(int odd) { return 2 * odd; }  // the first of 2 groups that lane t, odd = t % 2, scales
};
struct Bytes32 : Blocks32 {  // 16 bytes in a part: blocks 0 and 1 in part 0, blocks 2 and 3 in part 1
  static constexpr int x_pad = 64;
  static constexpr bool parts_apart = true;
  __device__ static int x_at(int c, int t, int part) { return c == 2 * part + t / 2 ? 32 * c + 16 * (t % 2) : -1; }
};
struct Pairs64 : Blocks32 {  // half t % 2 of the 32 bytes t / 2: the low nibbles are a group, the high ones the next
  static constexpr int x_pad = 32;
  static constexpr bool parts_apart = true;
  __device__ static int x_at(int c, int t, int part) { return c == 2 * (t / 2) + part ? 32 * c + 16 * (t % 2) : -1; }
};
struct Groups16 {  // 16 codes of each 32-column part s of half t / 2 of the block
  static constexpr int sums = 4, parts = 1, group = 16, x_sum = 32, pair_sum = 2, x_pad = 32;
  static constexpr bool parts_apart = false;
  __device__ static int x_at(int c, int t, int) { return c == t ? 128 * (c / 2) + 16 * (c % 2) : -1; }
  __device__ static int pair_at(int odd) { return 8 * odd; }
};

struct FormatBase {
  static constexpr bool is_signed = false;
  static constexpr Beside beside = Beside::nothing;
  static constexpr int offset = 0, minimum_sign = 1;
  static constexpr bool high_in_place = false;  // codes of odd groups are left in the high nibbles, 16 times too large
};

// ---- the shared memory ----

template <class F, int most> struct Shape {  // most: tokens at once
  static constexpr bool single = most == 1;
  static constexpr int sets = single ? 1 : most / 2;
  static constexpr int row_groups = F::wide && (most == 2 || most == 8) ? 2 : 1, rows = 8 * row_groups;  // of a tile
  static constexpr int depth = single ? F::depth : most == 8 ? 1 : 2;  // what the registers allow
  static constexpr int batch_rows = most <= 2 ? 64 : 32, batch_tiles = batch_rows / rows;  // whose sums are finished together
  static constexpr int sum_stride = batch_rows + 8;                                        // floats, of a token
  static constexpr int entry = F::beside == Beside::nothing ? 4 : 8;                       // bytes of a group
  static constexpr int piece_entries = piece_columns / F::group;

  __host__ __device__ static int x_stride(int pieces) { return pieces * piece_columns + F::x_pad; }
  __host__ __device__ static int entry_stride(int pieces) { return pieces * piece_entries * entry + 32; }
  __host__ __device__ static int partials(int pieces) { return pieces < warps ? pieces : warps; }
  static std::int64_t shared_bytes(std::int64_t pieces) {
    return zero_bytes + most * (pieces * (piece_columns + piece_entries * entry) + F::x_pad + 32) +
           std::int64_t(2) * partials(int(pieces)) * most * sum_stride * 4;
  }
};

struct ActHeader {
  unsigned d, d_sum, sum;
};

template <class F> __device__ __forceinline__ void store_entry(std::byte* entries, int block, const ActHeader& h) {
  float d = __uint_as_float(h.d);
  const int first = int(h.sum << 16) >> 16, second = int(h.sum) >> 16;
  if constexpr (F::high_in_place) d *= block % 2 ? 0.0625f : 1.0f;
  if constexpr (F::beside == Beside::nothing) {
    static_assert(F::group == 32);
    reinterpret_cast<float*>(entries)[block] = d;
  } else if constexpr (F::group == 32) {
    const float beside = F::beside == Beside::start ? __int_as_float(-F::offset * (first + second)) : F::minimum_sign * __uint_as_float(h.d_sum);
    reinterpret_cast<float2*>(entries)[block] = make_float2(d, beside);
  } else if constexpr (F::beside == Beside::start) {
    reinterpret_cast<float4*>(entries)[block] = make_float4(d, __int_as_float(-F::offset * first), d, __int_as_float(-F::offset * second));
  } else {
    reinterpret_cast<float4*>(entries)[block] = make_float4(d, F::minimum_sign * d * float(first), d, F::minimum_sign * d * float(second));
  }
}

// Rows [first, first + present) of x to shared memory, and rows of zeros up to `most`; blocks beyond the last are zeros.
template <class F, int most>
__device__ __forceinline__ void stage_x(const Task& task, int first, int present, std::byte* x, std::byte* entries) {
  using S = Shape<F, most>;
  constexpr int ahead = 8 / most, headers = 3;  // so many loads are under way at once
  const int thread = int(threadIdx.x), blocks = task.pieces * act_piece_blocks, words = blocks * 8;
  const int x_stride = S::x_stride(task.pieces), entry_stride = S::entry_stride(task.pieces);
  const std::int64_t row_words = std::int64_t(task.x_blocks) * act_words;
  const unsigned* from = task.x + first * row_words;

  const auto load_headers = [&](int begin, ActHeader (&h)[headers]) {
#pragma unroll
    for (int a = 0; a < headers; ++a) {
      const int i = begin + a * threads, t = i / blocks, block = i % blocks;
      h[a] = {};
      if (t >= present || block >= task.x_blocks) continue;
      const unsigned* p = from + t * row_words + block * act_words;
      h[a] = {load_x(p), load_x(p + 1), load_x(p + 2)};
    }
  };
  const auto store_headers = [&](int begin, const ActHeader (&h)[headers]) {
#pragma unroll
    for (int a = 0; a < headers; ++a) {
      const int i = begin + a * threads, t = i / blocks;
      if (t < most) store_entry<F>(entries + t * entry_stride, i % blocks, h[a]);
    }
  };

  ActHeader header[headers];
  load_headers(thread, header);
  for (int begin = thread; begin < words; begin += ahead * threads) {
    unsigned q[ahead][most];
#pragma unroll
    for (int a = 0; a < ahead; ++a)
#pragma unroll
      for (int t = 0; t < most; ++t) {
        const int i = begin + a * threads, block = i / 8;
        q[a][t] = t < present && block < task.x_blocks ? load_x(from + t * row_words + block * act_words + act_q_word + i % 8) : 0;
      }
#pragma unroll
    for (int a = 0; a < ahead; ++a)
#pragma unroll
      for (int t = 0; t < most; ++t) {
        const int i = begin + a * threads;
        if (i < words) reinterpret_cast<unsigned*>(x + t * x_stride)[i] = q[a][t];
      }
  }
  store_headers(thread, header);
  for (int begin = thread + headers * threads; begin < most * blocks; begin += headers * threads) {
    load_headers(begin, header);
    store_headers(begin, header);
  }
}

// ---- a step ----

// Where a lane finds its activations: offsets in shared memory. Lanes that have none read zeros, wherever the others go.
struct Addresses {
  int x[2], x_piece[2], x_set[2];  // of each part
  int entry, entry_set;
};

template <class F, int most> __device__ __forceinline__ Addresses addresses_of(const Task& task, int x, int entries) {
  using S = Shape<F, most>;
  const int lane = int(threadIdx.x % 32), n = lane / 4, t = lane % 4;
  const int x_stride = S::x_stride(task.pieces), entry_stride = S::entry_stride(task.pieces);
  Addresses a{};
#pragma unroll
  for (int part = 0; part < 2; ++part) {
    const int at = F::x_at(n % 4, t, part);
    if (at < 0) continue;
    a.x[part] = x + at + n / 4 * (S::single ? F::x_sum : x_stride);
    a.x_piece[part] = piece_columns, a.x_set[part] = 2 * x_stride;
  }
  a.entry = entries + F::pair_at(t % 2) * S::entry + t / 2 * (S::single ? F::pair_sum * S::entry : entry_stride);
  a.entry_set = 2 * entry_stride;
  return a;
}

template <class F, int most> struct Sums {
  using S = Shape<F, most>;
  float at[S::sets][S::row_groups][S::single ? 1 : 2];  // [..][..][s % 2], as with one token the lanes t / 2 have them
};

template <class F, int most, class Piece>
__device__ __forceinline__ void multiply_piece(const Piece (&piece)[Shape<F, most>::row_groups], int t, const std::byte* shared,
                                               const Addresses& a, int index, Sums<F, most>& sums) {
  using S = Shape<F, most>;
  constexpr int row_groups = S::row_groups, count = lane_sums<S::single>(F::sums);
  constexpr bool has_minimum = F::beside == Beside::minimum, upper = S::single || row_groups == 2;
  Scales<count, has_minimum> scales[row_groups];
#pragma unroll
  for (int r = 0; r < row_groups; ++r) F::template scales<S::single>(piece[r], t, scales[r]);
  const int x0 = a.x[0] + index * a.x_piece[0], x1 = F::parts_apart ? a.x[1] + index * a.x_piece[1] : x0 + 16;
  const int entry = a.entry + index * (S::piece_entries * S::entry);
#pragma unroll
  for (int k = 0; k < count; ++k) {
    const int first_sum = S::single ? 2 * k : k;
    unsigned code[2][F::parts][4];  // rows 0 to 7 and 8 to 15 of A
#pragma unroll
    for (int part = 0; part < F::parts; ++part) {
      F::codes(piece[0], t, first_sum, part, code[0][part]);
      if constexpr (upper) F::codes(piece[row_groups - 1], t, S::single ? first_sum + 1 : k, part, code[1][part]);
      else for (unsigned& w : code[1][part]) w = 0;
    }
#pragma unroll
    for (int set = 0; set < S::sets; ++set) {
      if constexpr (most > 2) __syncwarp();  // or the assembler mixes the sets, and runs out of registers
      float d[2], beside[2] = {};
      const std::byte* at = shared + entry + set * a.entry_set + first_sum * F::pair_sum * S::entry;
      if constexpr (F::beside == Beside::nothing) {
        const float2 v = *reinterpret_cast<const float2*>(at);
        d[0] = v.x, d[1] = v.y;
      } else {
        const float4 v = *reinterpret_cast<const float4*>(at);
        d[0] = v.x, d[1] = v.z, beside[0] = v.y, beside[1] = v.w;
      }
      int c[4] = {};
      if constexpr (F::beside == Beside::start) c[0] = c[2] = __float_as_int(beside[0]), c[1] = c[3] = __float_as_int(beside[1]);
#pragma unroll
      for (int part = 0; part < F::parts; ++part) {
        const int offset = part == 0 ? x0 + set * a.x_set[0] : x1 + set * a.x_set[F::parts_apart ? 1 : 0];
        const uint4 x = *reinterpret_cast<const uint4*>(shared + offset + first_sum * F::x_sum);
        const unsigned(&low)[4] = code[0][part], (&high)[4] = code[1][part];
        multiply_add<F::is_signed>(c, low[0], high[0], low[1], high[1], x.x, x.y);
        multiply_add<F::is_signed>(c, low[2], high[2], low[3], high[3], x.z, x.w);
      }
#pragma unroll
      for (int r = 0; r < row_groups; ++r)
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          float& sum = sums.at[set][r][S::single ? 0 : k % 2];
          const int total = S::single ? (t < 2 ? c[i] : c[2 + i]) : c[2 * r + i];
          sum = fmaf(float(total), scales[r].scale[k][i] * d[i], sum);
          if constexpr (has_minimum) sum = fmaf(scales[r].minimum[k][i], beside[i], sum);
        }
    }
  }
}

// The sums of one batch of tiles, from all warps' partial sums.
template <class F, int most>
__device__ __forceinline__ void finish_batch(const Task& task, const float* partial, int batch, int first_tile, int tiles, int first_token, int present) {
  using S = Shape<F, most>;
  const int partials = S::partials(task.pieces);
  for (int i = int(threadIdx.x); i < present * S::batch_rows; i += threads) {
    const int token = i / S::batch_rows, row_of_batch = i % S::batch_rows, tile = batch * S::batch_tiles + row_of_batch / S::rows;
    if (tile >= tiles) continue;
    int segment = 0;
    while (first_tile + tile >= task.segment[segment].end_tile) ++segment;
    const Segment& s = task.segment[segment];
    const int row = (first_tile + tile - s.first_tile) * S::rows + row_of_batch % S::rows;
    if (row >= s.rows) continue;
    float total = 0;
#pragma unroll 4
    for (int p = 0; p < partials; ++p) total += partial[(p * most + token) * S::sum_stride + row_of_batch];
    if (s.bias) total += s.bias[row];
    s.out[std::int64_t(first_token + token) * s.rows + row] = total;
  }
}

// A warp's way through the pieces of its block's tiles.
struct Walk {
  int tile, piece;
  __device__ __forceinline__ bool advance(const Task& task) {  // whether that leaves the tile by one more than tile_step
    tile += task.tile_step, piece += task.piece_step;
    const bool wraps = piece >= task.pieces;
    if (wraps) piece -= task.pieces, ++tile;
    return wraps;
  }
};

template <class F, int most> __global__ void __launch_bounds__(threads, 1) multiply_blocks(const __grid_constant__ Task task) {
  using S = Shape<F, most>;
  using Piece = typename F::template Piece<S::single>;
  extern __shared__ __align__(16) std::byte shared[];
  const int lane = int(threadIdx.x % 32), warp = int(threadIdx.x / 32), g = lane / 4, t = lane % 4;
  const int first_tile = int(std::int64_t(task.tiles) * blockIdx.x / gridDim.x);
  const int tiles = int(std::int64_t(task.tiles) * (blockIdx.x + 1) / gridDim.x) - first_tile;

  Walk here{warp / task.pieces, warp % task.pieces}, ahead = here;
  int segment = 0;  // of `ahead`
  int block = (first_tile + ahead.tile) * S::rows * task.row_blocks + g * task.row_blocks + ahead.piece * F::piece_blocks;
  Piece piece[S::depth][S::row_groups];
  const auto load = [&](Piece (&to)[S::row_groups]) {
    if (ahead.tile >= tiles) return;
    while (first_tile + ahead.tile >= task.segment[segment].end_tile) {
      block -= (task.segment[segment].end_tile - task.segment[segment].first_tile) * S::rows * task.row_blocks;
      ++segment;
    }
    const Segment& s = task.segment[segment];
    const int last = s.last_row_block + ahead.piece * F::piece_blocks;
#pragma unroll
    for (int r = 0; r < S::row_groups; ++r)
      F::load(to[r], s.plane, {min(block + 8 * r * task.row_blocks, last), task.row_blocks - 1 - F::piece_blocks * ahead.piece, task.row_blocks % 2 == 0, t});
    block += task.block_step;
    if (ahead.advance(task)) block += task.block_return;
  };
#pragma unroll
  for (int d = 0; d < S::depth; ++d) load(piece[d]);

  cuda::wait_for_previous();
  cuda::let_next_start();
  const int first_token = int(blockIdx.y) * most, present = min(task.tokens - first_token, most);
  const int x_bytes = most * S::x_stride(task.pieces), entry_bytes = most * S::entry_stride(task.pieces);
  if (threadIdx.x < zero_bytes / 4) reinterpret_cast<unsigned*>(shared)[threadIdx.x] = 0;
  stage_x<F, most>(task, first_token, present, shared + zero_bytes, shared + zero_bytes + x_bytes);
  const Addresses addresses = addresses_of<F, most>(task, zero_bytes, zero_bytes + x_bytes);
  __syncthreads();

  // Of two batches in turn: while one is finished, sums of the next are stored.
  float* partials = reinterpret_cast<float*>(shared + zero_bytes + x_bytes + entry_bytes);
  const int other = S::partials(task.pieces) * most * S::sum_stride, place = (S::single ? 0 : t / 2 * S::sum_stride) + g;
  int partial = 0;  // or `other`: where those of the batch are
  int batch = 0;  // the first that is not finished
  const auto finish_before = [&](int end) {
    for (; batch < end; ++batch) {
      all_warps();
      finish_batch<F, most>(task, partials + partial, batch, first_tile, tiles, first_token, present);
      partial = other - partial;
    }
  };
  Sums<F, most> sums{};
  const auto store_sums = [&](const Walk& at) {  // this warp's last piece of the tile
    finish_before(int(unsigned(at.tile) / S::batch_tiles));
    float* to = partials + partial + unsigned(at.piece) % warps * (most * S::sum_stride) + unsigned(at.tile) % S::batch_tiles * S::rows + place;
#pragma unroll
    for (int set = 0; set < S::sets; ++set)
#pragma unroll
      for (int r = 0; r < S::row_groups; ++r) {
        float(&part)[S::single ? 1 : 2] = sums.at[set][r];
        float sum;
        if constexpr (S::single) sum = part[0] + __shfl_xor_sync(0xffffffffu, part[0], 2);
        else sum = part[0] + part[1];
        sum += __shfl_xor_sync(0xffffffffu, sum, 1);
        if (S::single ? t == 0 : t % 2 == 0) to[2 * set * S::sum_stride + 8 * r] = sum;
        for (float& v : part) v = 0;
      }
  };
  while (here.tile < tiles) {
#pragma unroll
    for (int d = 0; d < S::depth; ++d) {
      if (here.tile >= tiles) break;
      multiply_piece<F, most>(piece[d], t, shared, addresses, here.piece, sums);
      load(piece[d]);
      const Walk at = here;
      here.advance(task);
      if (here.tile != at.tile) store_sums(at);
    }
  }
  finish_before((tiles + S::batch_tiles - 1) / S::batch_tiles);
}

// ---- the launch ----

// `task` has everything but its tiles. False when so many tokens do not fit into the shared memory.
template <class F, int most> bool launch_most(const cuda::Launch& on, Task& task, std::int64_t most_shared_bytes) {
  using S = Shape<F, most>;
  const std::int64_t bytes = S::shared_bytes(task.pieces);
  if (bytes > most_shared_bytes) return false;
  task.tiles = 0;
  for (int s = 0; s < task.segments; ++s) {
    task.segment[s].first_tile = task.tiles;
    task.segment[s].end_tile = task.tiles += (task.segment[s].rows + S::rows - 1) / S::rows;
    task.segment[s].last_row_block = (task.segment[s].rows - 1) * task.row_blocks;
  }
  const int tile_blocks = S::rows * task.row_blocks;
  task.block_step = task.tile_step * tile_blocks + task.piece_step * F::piece_blocks;
  task.block_return = tile_blocks - task.pieces * F::piece_blocks;
  const int blocks = task.tiles < on.multiprocessors ? task.tiles : on.multiprocessors;
  const int passes = (task.tokens + most - 1) / most;
  cuda::launch(on, multiply_blocks<F, most>, dim3(unsigned(blocks), unsigned(passes)), threads, int(bytes), task);
  return true;
}
template <class F> bool launch_format(const cuda::Launch& on, Task& task, std::int64_t most_shared_bytes) {
  return (task.tokens > 4 && launch_most<F, 8>(on, task, most_shared_bytes)) ||
         (task.tokens > 2 && launch_most<F, 4>(on, task, most_shared_bytes)) ||
         (task.tokens > 1 && launch_most<F, 2>(on, task, most_shared_bytes)) || launch_most<F, 1>(on, task, most_shared_bytes);
}

// The launch of `type`, where the file has it: false when x does not fit.
using LaunchFormat = bool (*)(const cuda::Launch&, Task&, std::int64_t most_shared_bytes);
LaunchFormat legacy_launch(DType type);  // or null
LaunchFormat k_launch(DType type);

}  // namespace ridge::op::matvec_blocks
