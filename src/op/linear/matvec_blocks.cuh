// Few rows of int8 activations with block-quantized weights: the frame. The formats are in matvec_blocks_*_sm80.cu.
//
// The weights stream by once for every 1, 2, 4 or 8 tokens, straight from their planes into registers, and are
// multiplied by the tensor cores' int8 product of 16 x 32 with 32 x 8 (mma.m16n8k32). A are codes of the weights: lane
// 4 g + t holds what it loaded from row g. B are the activations, masked: the lanes t of a row hold codes of different
// groups (each with a scale of its own), so column n = 4 i + c of B has values where lane t's codes belong to group c,
// and zeros elsewhere. So C gets the integer sums of 4 groups without a shuffle, and a single token costs the
// multiprocessor fewer instructions than dp4a would. What i and rows 8 to 15 of A are for:
//
//   one token      i = 0 and 1 are two sets of 4 groups of one row, rows 8 to 15 of A its codes of the second set
//   several        i = 0 and 1 are two tokens, rows 8 to 15 of A are 8 more rows, or zeros
//
//   piece   8 (or 16) rows by 256 columns: what a warp loads and multiplies in one step, `depth` steps ahead
//   tile    these rows, all columns
//
// x comes in int8 blocks or as floats: then each block normalizes and quantizes it for itself, by the rules of q8_act.
// Of a gate and what it gates, a tile has 4 (or 8) rows each: lanes g / 4 = 0 and 1.
//
// A block has a range of tiles, and its 16 warps take their pieces in turn, so that they read neighbouring bytes and
// all have work whatever the size. A tile's sum is over at most 16 partial sums: number i is of the pieces p with
// p % 16 == i, whichever warp had them. So a row's result depends neither on the other rows nor on how many tokens or
// multiprocessors there are: bit for bit.
#pragma once
#include "cuda/launch.cuh"
#include "op/linear/matvec_blocks_act.cuh"
#include "op/linear/matvec_blocks_codes.cuh"
#include "op/linear/matvec_plain.cuh"
#include "tensor/dtype.h"

namespace ridge::op::matvec_blocks {

inline constexpr int act_words = int(sizeof(ActBlock) / 4), act_q_word = 3;
inline constexpr int most_segments = 8;
inline constexpr int zero_bytes = 256;  // of zeros, at the beginning of the shared memory

struct Segment {  // weights of one launch all have one type and one number of columns
  const std::byte* plane[4];
  const float* bias;  // or null
  float* out;
  int rows, last_row_block;  // the first block of the last row
  int first_tile, end_tile;  // of the launch's tiles
};

struct Task {
  const unsigned* x;             // rows of ActBlocks, as words
  int tokens, x_blocks;          // ActBlocks of a row
  int pieces, row_blocks;        // of a tile; weight blocks of a row
  int tile_step, piece_step;     // 16 pieces further
  int block_step, block_return;  // the same in blocks of a row of the tile; what a new tile adds to it
  int tiles, segments;
  int tile_rows, group_rows;  // rows of a segment in a tile, and in 8 of its rows
  int group_blocks;           // blocks of these
  bool fused;                 // x is floats, and `around` holds
  int columns;
  Around around;
  Segment segment[most_segments];
};

// ---- the shared memory ----

template <class F, int most> struct Shape {  // most: tokens at once
  static constexpr bool single = most == 1;
  static constexpr int sets = single ? 1 : most / 2;
  static constexpr int row_groups = F::wide && (most == 2 || most == 8) ? 2 : 1, rows = 8 * row_groups;  // of a tile
  static constexpr int depth = single ? F::depth : most == 8 ? 1 : 2;  // what the registers allow
  static constexpr int batch_rows = most <= 2 ? 64 : 32,
                       batch_tiles = batch_rows / rows;               // whose sums are finished together
  static constexpr int sum_stride = batch_rows + 8;                   // floats, of a token
  static constexpr int entry = F::beside == Beside::nothing ? 4 : 8;  // bytes of a group
  static constexpr int piece_entries = piece_columns / F::group;

  __host__ __device__ static int x_stride(int pieces) { return pieces * piece_columns + F::x_pad; }
  __host__ __device__ static int entry_stride(int pieces) { return pieces * piece_entries * entry + 32; }
  __host__ __device__ static int partials(int pieces) { return pieces < warps ? pieces : warps; }
  static std::int64_t shared_bytes(std::int64_t pieces) {
    return zero_bytes + most * (pieces * (piece_columns + piece_entries * entry) + F::x_pad + 32) +
           std::int64_t(2) * partials(int(pieces)) * most * sum_stride * 4;
  }
};

// An activation block's groups (one, or two halves) as products want them, from its words that stage_x copied.
template <class F>
__device__ __forceinline__ void store_entry(std::byte* entry, int block, float d, float d_sum, int first, int second) {
  if constexpr (F::beside == Beside::nothing) *reinterpret_cast<float*>(entry) = d;
  else if constexpr (F::group == 16 && F::beside == Beside::zero_point)
    *reinterpret_cast<float4*>(entry) =
        make_float4(d, __int_as_float(-F::offset * first), d, __int_as_float(-F::offset * second));
  else if constexpr (F::group == 16)
    *reinterpret_cast<float4*>(entry) =
        make_float4(d, F::minimum_sign * d * float(first), d, F::minimum_sign * d * float(second));
  else if constexpr (F::beside == Beside::zero_point)
    *reinterpret_cast<float2*>(entry) = make_float2(d, __int_as_float(-F::offset * (first + second)));
  else
    *reinterpret_cast<float2*>(entry) =
        make_float2(F::high_in_place && block % 2 ? d * 0.0625f : d, F::minimum_sign * d_sum);
}
template <class F> __device__ __forceinline__ void finish_entry(std::byte* entry, int block) {
  if constexpr (F::beside == Beside::nothing) return;
  const uint2 raw = *reinterpret_cast<const uint2*>(entry);
  store_entry<F>(entry, block, __uint_as_float(raw.x), __uint_as_float(raw.y), int(raw.y << 16) >> 16,
                 int(raw.y) >> 16);
}

// Blocks of x beyond the last: zeros.
template <class F, int most>
__device__ __forceinline__ void stage_nothing(const Task& task, std::byte* x, std::byte* entries) {
  using S = Shape<F, most>;
  constexpr int block_entry = 32 / F::group * S::entry;
  const int x_stride = S::x_stride(task.pieces), entry_stride = S::entry_stride(task.pieces),
            padded = task.pieces * act_piece_blocks;
  for (int i = task.x_blocks * 8 + int(threadIdx.x); i < padded * 8; i += threads)
    for (int t = 0; t < most; ++t) {
      reinterpret_cast<unsigned*>(x + t * x_stride)[i] = 0;
      if (i % 8 * 4 < block_entry)
        reinterpret_cast<unsigned*>(entries + t * entry_stride + i / 8 * block_entry)[i % 8] = 0;
    }
}

// The block's tokens to shared memory. Tokens that are not there repeat the last one:
// nobody stores their sums. All loads are under way at once.
template <class F, int most>
__device__ __forceinline__ void stage_x(const Task& task, std::byte* x, std::byte* entries) {
  using S = Shape<F, most>;
  constexpr int block_entry = 32 / F::group * S::entry;
  constexpr int beside_word = F::beside == Beside::minimum && F::group == 32 ? 1 : 2;  // d_sum, or the sums
  const unsigned thread = threadIdx.x, blocks = unsigned(task.x_blocks);
  const int x_stride = S::x_stride(task.pieces), entry_stride = S::entry_stride(task.pieces),
            row_words = task.x_blocks * act_words;
  const int first = int(blockIdx.y) * most, last = min(task.tokens - first, most) - 1;
  const unsigned* from = task.x + std::int64_t(first) * row_words;
  for (unsigned block = thread; block < blocks; block += threads)
#pragma unroll
    for (int t = 0; t < most; ++t) {
      const unsigned* block_words = from + min(t, last) * row_words + block * act_words;
      std::byte* entry = entries + t * entry_stride + block * block_entry;
      copy4(entry, block_words);
      if constexpr (F::beside != Beside::nothing) copy4(entry + 4, block_words + beside_word);
    }
  for (unsigned i = thread; i < blocks * 8; i += threads)
#pragma unroll
    for (int t = 0; t < most; ++t)
      copy4(x + t * x_stride + 4 * i, from + min(t, last) * row_words + (i / 8 * (act_words - 8) + act_q_word + i));
  copies_done();
  for (unsigned block = thread; block < blocks; block += threads)
#pragma unroll
    for (int t = 0; t < most; ++t) finish_entry<F>(entries + t * entry_stride + block * block_entry, int(block));
}

// The same from floats: 8 threads have a block of 32 columns. The order of sums of a row follows from its length.
template <class F, int most>
__device__ __forceinline__ void stage_floats(const Task& task, std::byte* x, std::byte* entries) {
  using S = Shape<F, most>;
  __shared__ float squares[most][warps];
  constexpr int block_entry = 32 / F::group * S::entry;
  const int thread = int(threadIdx.x), lane = thread % 32, quads = task.columns / 4;
  const int x_stride = S::x_stride(task.pieces), entry_stride = S::entry_stride(task.pieces);
  const int first = int(blockIdx.y) * most, last = min(task.tokens - first, most) - 1;
  const float4* from = reinterpret_cast<const float4*>(task.x) + std::int64_t(first) * quads;
  const float4* norm = reinterpret_cast<const float4*>(task.around.norm);
  constexpr int at_once = most < 2 ? most : 2;  // tokens: what the registers allow
  if (norm) {
#pragma unroll 1
    for (int begin = 0; begin < most; begin += at_once) {
      float sum[at_once] = {};
      for (int i = thread; i < quads; i += threads)
#pragma unroll
        for (int t = 0; t < at_once; ++t) sum[t] = add_squares(from[min(begin + t, last) * quads + i], sum[t]);
#pragma unroll
      for (int t = 0; t < at_once; ++t) {
        const float all = cuda::warp_sum(sum[t]);
        if (lane == 0) squares[begin + t][thread / 32] = all;
      }
    }
    __syncthreads();
  }
#pragma unroll 1
  for (int begin = 0; begin < most; begin += at_once) {
    float scale[at_once];
#pragma unroll
    for (int t = 0; t < at_once; ++t)
      scale[t] = norm ? norm_scale(squares[begin + t], task.columns, task.around.eps) : 1;
#pragma unroll 1
    for (int i = thread; i < (quads + 31) / 32 * 32; i += threads) {
      const bool there = i < quads;
      const float4 w = norm && there ? __ldg(norm + i) : float4{};
#pragma unroll
      for (int t = 0; t < at_once; ++t) {
        float4 v = there ? from[min(begin + t, last) * quads + i] : float4{};
        if (norm) v = normed(v, scale[t], w, task.around.offset);
        const ActQuad q = quantize_quad(v);
        if (!there) continue;
        reinterpret_cast<unsigned*>(x + (begin + t) * x_stride)[i] = q.codes;
        if (lane % 8 == 0)
          store_entry<F>(entries + (begin + t) * entry_stride + i / 8 * block_entry, i / 8, q.d,
                         __fmul_rn(q.d, float(q.sum + q.other_sum)), q.sum, q.other_sum);
      }
    }
  }
}

// ---- a step ----

// Where a lane finds its activations: offsets in shared memory. Lanes that have none read zeros, wherever the others
// go.
struct Addresses {
  int x, entry;
  bool has[2];  // of each part
};

template <class F, int most> __device__ __forceinline__ Addresses addresses_of(const Task& task, int x, int entries) {
  using S = Shape<F, most>;
  const int lane = int(threadIdx.x % 32), n = lane / 4, t = lane % 4;
  const int x_stride = S::x_stride(task.pieces), entry_stride = S::entry_stride(task.pieces);
  Addresses a;
  a.x = x + F::x_at(n % 4, t) + n / 4 * (S::single ? F::x_sum : x_stride);
  for (int part = 0; part < 2; ++part) a.has[part] = F::in_group(n % 4, t, part);
  a.entry = entries + F::pair_at(t % 2) * S::entry + t / 2 * (S::single ? F::pair_sum * S::entry : entry_stride);
  return a;
}

template <class F, int most> struct Sums {
  using S = Shape<F, most>;
  float at[S::sets][S::row_groups][S::single ? 1 : 2];  // [..][..][s % 2], as with one token the lanes t / 2 have them
};

template <class F, int most, class Piece>
__device__ __forceinline__ void multiply_piece(const Piece (&piece)[Shape<F, most>::row_groups], int t,
                                               const std::byte* shared, const Addresses& a, int pieces, int index,
                                               Sums<F, most>& sums) {
  using S = Shape<F, most>;
  constexpr int row_groups = S::row_groups, count = lane_sums<S::single>(F::sums);
  constexpr bool has_minimum = F::beside == Beside::minimum, upper = S::single || row_groups == 2;
  const int entry = a.entry + index * (S::piece_entries * S::entry);
  const int x_set = 2 * S::x_stride(pieces), entry_set = 2 * S::entry_stride(pieces);
#pragma unroll
  for (int k = 0; k < count; ++k) {
    const int first_sum = S::single ? 2 * k : k;
    Scales scales[row_groups];
#pragma unroll
    for (int r = 0; r < row_groups; ++r) F::template scales<S::single>(piece[r], t, k, scales[r]);
    unsigned code[2][F::parts][4];  // rows 0 to 7 and 8 to 15 of A
#pragma unroll
    for (int part = 0; part < F::parts; ++part) {
      F::codes(piece[0], t, first_sum, part, code[0][part]);
      if constexpr (upper) F::codes(piece[row_groups - 1], t, S::single ? first_sum + 1 : k, part, code[1][part]);
      else
        for (unsigned& w : code[1][part]) w = 0;
    }
#pragma unroll
    for (int set = 0; set < S::sets; ++set) {
      float d[2], beside[2] = {};
      const std::byte* at = shared + entry + set * entry_set + first_sum * F::pair_sum * S::entry;
      if constexpr (F::beside == Beside::nothing) {
        const float2 v = *reinterpret_cast<const float2*>(at);
        d[0] = v.x, d[1] = v.y;
      } else {
        const float4 v = *reinterpret_cast<const float4*>(at);
        d[0] = v.x, d[1] = v.z, beside[0] = v.y, beside[1] = v.w;
      }
      int c[4] = {};
#pragma unroll
      for (int part = 0; part < F::parts; ++part) {
        const int lanes = F::parts_apart ? part : 0,
                  offset = a.has[lanes] ? a.x + index * piece_columns + set * x_set : 0;
        const uint4 x = *reinterpret_cast<const uint4*>(shared + offset + first_sum * F::x_sum + (part - lanes) * 16);
        const unsigned(&low)[4] = code[0][part], (&high)[4] = code[1][part];
        multiply_add<F::is_signed>(c, low[0], high[0], low[1], high[1], x.x, x.y);
        multiply_add<F::is_signed>(c, low[2], high[2], low[3], high[3], x.z, x.w);
      }
#pragma unroll
      for (int r = 0; r < row_groups; ++r)
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          float& sum = sums.at[set][r][S::single ? 0 : k % 2];
          int total = S::single ? (t < 2 ? c[i] : c[2 + i]) : c[2 * r + i];
          if constexpr (F::beside == Beside::zero_point) total += __float_as_int(beside[i]);
          sum = fmaf(float(total), scales[r].scale[i] * d[i], sum);
          if constexpr (has_minimum) sum = fmaf(scales[r].minimum[i], beside[i], sum);
        }
    }
  }
}

// The sums of one batch of tiles, from all warps' partial sums.
template <class F, int most>
__device__ __forceinline__ void finish_batch(const Task& task, const float* partial, int batch, int first_tile,
                                             int tiles) {
  using S = Shape<F, most>;
  const int partials = S::partials(task.pieces), first_token = int(blockIdx.y) * most,
            present = min(task.tokens - first_token, most);
  const bool gates = task.around.gates;
  for (int i = int(threadIdx.x); i < present * S::batch_rows; i += threads) {
    const int token = i / S::batch_rows, row_of_batch = i % S::batch_rows,
              tile = batch * S::batch_tiles + row_of_batch / S::rows;
    if (tile >= tiles || (gates && row_of_batch % 8 >= 4)) continue;
    int segment = 0;
    while (first_tile + tile >= task.segment[segment].end_tile) ++segment;
    const Segment& s = task.segment[segment];
    const int row_of_tile = row_of_batch % S::rows,
              in_tile = gates ? row_of_tile / 8 * 4 + row_of_tile % 8 : row_of_tile;
    const int row = (first_tile + tile - s.first_tile) * task.tile_rows + in_tile;
    if (row >= s.rows) continue;
    const auto total_of = [&](int of, const float* bias) {
      float total = 0;
#pragma unroll 4
      for (int p = 0; p < partials; ++p) total += partial[(p * most + token) * S::sum_stride + of];
      return bias ? total + bias[row] : total;
    };
    float total = total_of(row_of_batch, s.bias);
    const std::int64_t at = std::int64_t(first_token + token) * s.rows + row;
    if (gates) total = matvec::gate(total, task.around.gate) * total_of(row_of_batch + 4, task.segment[1].bias);
    if (task.around.residual) total = fmaf(task.around.scale, total, task.around.residual[at]);
    s.out[at] = total;
  }
}

// A warp's way through the pieces of its block's tiles.
struct Walk {
  int tile, piece;
  __device__ __forceinline__ bool advance(const Task& task) {  // returns whether it is one more tile than tile_step
    tile += task.tile_step, piece += task.piece_step;
    const bool wraps = piece >= task.pieces;
    if (wraps) piece -= task.pieces, ++tile;
    return wraps;
  }
};

template <class F, int most>
__global__ void __launch_bounds__(threads, 1) multiply_blocks(const __grid_constant__ Task task) {
  using S = Shape<F, most>;
  using Piece = typename F::template Piece<S::single>;
  extern __shared__ __align__(16) std::byte shared[];
  const int lane = int(threadIdx.x % 32), warp = int(threadIdx.x / 32), g = lane / 4, t = lane % 4;
  const int each = task.tiles / int(gridDim.x), more = task.tiles % int(gridDim.x), index = int(blockIdx.x);
  const int first_tile = index * each + min(index, more), tiles = each + (index < more);

  Walk here{warp / task.pieces, warp % task.pieces}, ahead = here;
  int segment = task.around.gates ? g / 4 : 0;  // of what is loaded next
  Segment copy = task.segment[segment];         // the same, where there are registers for it
  int block = (first_tile + ahead.tile) * task.tile_rows * task.row_blocks + g % task.group_rows * task.row_blocks +
              ahead.piece * F::piece_blocks;
  Piece piece[S::depth][S::row_groups];
  const auto load = [&](Piece(&to)[S::row_groups]) {
    Walk from = S::depth == 1 ? here : ahead;
    if (from.tile >= tiles) return;
    while (first_tile + from.tile >= (S::single ? copy.end_tile : task.segment[segment].end_tile)) {
      block -= (task.segment[segment].end_tile - task.segment[segment].first_tile) * S::rows * task.row_blocks;
      copy = task.segment[++segment];
    }
    const Segment& s = S::single ? copy : task.segment[segment];
    const int last = s.last_row_block + from.piece * F::piece_blocks;
#pragma unroll
    for (int r = 0; r < S::row_groups; ++r)  // rows beyond the last are the last
      F::load(to[r], s.plane,
              {min(block + r * task.group_blocks, last), task.row_blocks - 1 - F::piece_blocks * from.piece,
               task.row_blocks, t});
    block += task.block_step;
    if (from.advance(task)) block += task.block_return;
    ahead = from;
  };
#pragma unroll
  for (int d = 0; d < S::depth; ++d) load(piece[d]);

  if (task.around.norm) ask_into_l2(task.around.norm, task.columns);
  cuda::wait_for_previous();
  cuda::let_next_start();
  const int x_bytes = most * S::x_stride(task.pieces), entry_bytes = most * S::entry_stride(task.pieces);
  if (threadIdx.x < zero_bytes / 4) reinterpret_cast<unsigned*>(shared)[threadIdx.x] = 0;
  stage_nothing<F, most>(task, shared + zero_bytes, shared + zero_bytes + x_bytes);
  if (task.fused) stage_floats<F, most>(task, shared + zero_bytes, shared + zero_bytes + x_bytes);
  else stage_x<F, most>(task, shared + zero_bytes, shared + zero_bytes + x_bytes);
  const Addresses addresses = addresses_of<F, most>(task, zero_bytes, zero_bytes + x_bytes);
  __syncthreads();

  // Of two batches in turn: while one is finished, sums of the next are stored.
  float* partials = reinterpret_cast<float*>(shared + zero_bytes + x_bytes + entry_bytes);
  const int other = S::partials(task.pieces) * most * S::sum_stride,
            place = (S::single ? 0 : t / 2 * S::sum_stride) + g;
  int batch = 0;  // the first that is not finished
  const auto finish_before = [&](int end) {
    for (; batch < end; ++batch) {
      all_warps();
      finish_batch<F, most>(task, partials + batch % 2 * other, batch, first_tile, tiles);
    }
  };
  Sums<F, most> sums{};
  const auto store_sums = [&](const Walk& at) {  // this warp's last piece of the tile
    finish_before(int(unsigned(at.tile) / S::batch_tiles));
    float* to = partials + batch % 2 * other + unsigned(at.piece) % warps * (most * S::sum_stride) +
                unsigned(at.tile) % S::batch_tiles * S::rows + place;
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
      multiply_piece<F, most>(piece[d], t, shared, addresses, task.pieces, here.piece, sums);
      const Walk at = here;
      here.advance(task);
      load(piece[d]);
      if (here.tile != at.tile) store_sums(at);
    }
  }
  finish_before((tiles + S::batch_tiles - 1) / S::batch_tiles);
}

// ---- the launch ----

// `task` has everything but its tiles and steps of blocks. False when so many tokens do not fit into the shared memory.
template <class F, int most> bool launch_most(const cuda::Launch& on, Task& task, std::int64_t most_shared_bytes) {
  using S = Shape<F, most>;
  const std::int64_t bytes = S::shared_bytes(task.pieces);
  if (bytes > most_shared_bytes) return false;
  const bool gates = task.around.gates;
  task.tiles = 0, task.group_rows = gates ? 4 : 8, task.group_blocks = task.group_rows * task.row_blocks,
  task.tile_rows = S::row_groups * task.group_rows;
  for (int s = 0; s < task.segments; ++s) {
    Segment& segment = task.segment[s];
    if (gates) task.tiles = 0;  // each tile has rows of both
    segment.first_tile = task.tiles;
    segment.end_tile = task.tiles += (segment.rows + task.tile_rows - 1) / task.tile_rows;
    segment.last_row_block = (segment.rows - 1) * task.row_blocks;
  }
  const int tile_blocks = task.tile_rows * task.row_blocks;
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
         (task.tokens > 1 && launch_most<F, 2>(on, task, most_shared_bytes)) ||
         launch_most<F, 1>(on, task, most_shared_bytes);
}

// The launch of `type`, where the file has it: false when x does not fit.
using LaunchFormat = bool (*)(const cuda::Launch&, Task&, std::int64_t most_shared_bytes);
LaunchFormat legacy_launch(DType type);  // or null
LaunchFormat k_launch(DType type);

// One token, from sm_90 on (matvec_blocks_ring_sm90.cu): false where it has no kernel for the type or size.
bool ring_launch(const cuda::Launch& on, DType type, const Task& task);

}  // namespace ridge::op::matvec_blocks
