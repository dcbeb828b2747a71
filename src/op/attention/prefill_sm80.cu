// Attention of prompts and chunks of them: tiles of rows of queries pass over their keys with a running maximum and sum
// (FlashAttention-2, Dao 2023), both products on tensor cores.
//
// The rows of a sequence and kv head are its queries times the heads of the group, query by query; a tile is 64 or 128 of
// them, 16 or 32 to a warp. So a kv head's keys are read once for all its heads, and a causal tile ends at its last
// query. While a step's keys are worked on, the next step's pages are on their way to the other half of shared memory.
// Sequences of one query are decode_sm80.cu's.
#include <cuda_fp16.h>

#include "cuda/launch.cuh"
#include "op/attention/cuda_kernels.h"
#include "op/store_row.cuh"

namespace ridge::op {
namespace {

using tile::Page;

constexpr int warps = 4, threads = warps * 32;
constexpr unsigned all_lanes = 0xffffffffu;

// What a block keeps in shared memory: its queries, then two halves of `pages` pages of keys and of values; later, in
// place of all, each warp's results.
template <int D, int M, int pages> struct Shape {
  static constexpr int rows = 16 * M * warps;  // M: products' heights to a warp
  static constexpr int query_stride = 2 * D + 16, query_bytes = rows * query_stride;
  static constexpr int keys = pages * page_keys;
  static constexpr int values_at = pages * Page<D>::key_bytes, half_bytes = values_at + pages * Page<D>::value_bytes;
  static constexpr int bytes = query_bytes + 2 * half_bytes, result_stride = D + 8;
  static_assert(warps * 16 * result_stride * 4 <= bytes);
};

struct Tile {  // rows [first, first + ..) of the sequence's queries * group
  int sequence, first_query, queries, first;  // first_query: the row of q; sequence < 0: there is no such tile
};

// Tile `index` of all sequences' in order. Every warp for itself, all lanes together.
__device__ Tile find_tile(const PagedTask& a, int index, int rows) {
  const int lane = int(threadIdx.x % 32);
  for (int from = 0; from < a.sequences; from += 32) {
    const int b = from + lane;
    int first = 0, queries = 0;
    if (b < a.sequences) first = a.query_start[b], queries = a.query_start[b + 1] - first;
    const int tiles = queries == 1 ? 0 : (queries * a.group + rows - 1) / rows;
    int until = tiles;  // tiles of this sequence and those before it, of these 32
    for (int d = 1; d < 32; d *= 2) {
      const int other = __shfl_up_sync(all_lanes, until, d);
      if (lane >= d) until += other;
    }
    const unsigned after = __ballot_sync(all_lanes, index < until);
    if (after) {
      const int owner = __ffs(int(after)) - 1;
      const int inside = __shfl_sync(all_lanes, index - (until - tiles), owner);
      return {from + owner, __shfl_sync(all_lanes, first, owner), __shfl_sync(all_lanes, queries, owner), inside * rows};
    }
    index -= __shfl_sync(all_lanes, until, 31);
  }
  return {-1, 0, 0, 0};
}

// Queries as halves, times the scale; zeros for rows that are not there.
template <int D> __device__ __forceinline__ void load_queries(const PagedTask& a, const Tile& t, int head, int rows, int stride,
                                                              unsigned char* to) {
  for (int i = int(threadIdx.x); i < rows * (D / 4); i += threads) {
    const int row = i / (D / 4), c = i % (D / 4) * 4, r = t.first + row, query = r / a.group;
    float4 v = make_float4(0, 0, 0, 0);
    if (query < t.queries) {
      const float* const from = a.q + (t.first_query + query) * a.columns + std::int64_t(head + r - query * a.group) * D;
      v = *reinterpret_cast<const float4*>(from + c);
    }
    *reinterpret_cast<uint2*>(to + row * stride + c * 2) =
        make_uint2(tile::pack(v.x * a.scale, v.y * a.scale), tile::pack(v.z * a.scale, v.w * a.scale));
  }
}

// The pages of the cache that a tile reads, `pages` to a step; each step's blocks are looked up one step ahead.
template <int D, int M, int pages> struct Stream {
  using S = Shape<D, M, pages>;
  const PagedTask& a;
  const std::int32_t* table;
  const std::byte* state;  // at the head's tile of block 0
  unsigned memory;
  int context, last_page;  // pages from here on are not read
  int blocks[pages];

  __device__ __forceinline__ void find_blocks(int step) {
#pragma unroll
    for (int p = 0; p < pages; ++p) {
      const int page = step * pages + p;
      blocks[p] = page < last_page ? table[page] : 0;
    }
  }
  __device__ __forceinline__ void send(int step) {  // whose blocks were looked up last
#pragma unroll
    for (int p = 0; p < pages; ++p) {
      const int page = step * pages + p, left = context - page * page_keys;
      const unsigned to = memory + unsigned(step % 2 * S::half_bytes);
      const std::byte* const from = state + 2 * a.at.keys(blocks[p], 0);
      const bool there = page < last_page;
      Page<D>::template copy_keys<threads>(to + p * Page<D>::key_bytes, from, threadIdx.x, there ? 16 : 0);
      Page<D>::template copy_values<threads>(to + S::values_at + p * Page<D>::value_bytes,
                                             from + 2 * a.at.values(0, 0),
                                             threadIdx.x, 0, there ? min(left, page_keys) : 0);
    }
    tile::commit_copies();
  }
};

// A warp's rows: of each 16, a lane holds parts of rows lane / 4 and 8 + lane / 4.
template <int D, int M> struct Rows {
  float most[M][2], total[M][2], sum[M][D / 8][4];
  int begin[M][2], end[M][2];  // the keys that each sees

  __device__ __forceinline__ Rows(const PagedTask& a, const Tile& t, int first_row, int context) {
#pragma unroll
    for (int m = 0; m < M; ++m)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int query = (t.first + first_row + 16 * m + 8 * h + int(threadIdx.x % 32) / 4) / a.group;
        const int after = context - t.queries + query + 1;  // the query's own position, and one
        begin[m][h] = a.window > 0 ? after - a.window : 0, end[m][h] = a.causal ? min(after, context) : context;
        most[m][h] = -INFINITY, total[m][h] = 0;
      }
#pragma unroll
    for (int m = 0; m < M; ++m)
#pragma unroll
      for (int n = 0; n < D / 8; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i) sum[m][n][i] = 0;
  }

  // Scores of keys key + 8 j + .. become weights.
  __device__ __forceinline__ void weigh(float (&s)[M][4][4], float cap, int key, bool masked) {
    float next[M][2];
    bool grows = false;
#pragma unroll
    for (int m = 0; m < M; ++m)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        float& most_here = next[m][h];
        most_here = most[m][h];
#pragma unroll
        for (int j = 0; j < 4; ++j)
#pragma unroll
          for (int e = 0; e < 2; ++e) {
            float& v = s[m][j][2 * h + e];
            if (cap != 0) v = tile::capped(v, cap);
            if (masked) {
              const int at = key + 8 * j + int(threadIdx.x % 4) * 2 + e;
              if (at < begin[m][h] || at >= end[m][h]) v = -INFINITY;
            }
            most_here = fmaxf(most_here, v);
          }
        most_here = fmaxf(most_here, __shfl_xor_sync(all_lanes, most_here, 1));
        most_here = fmaxf(most_here, __shfl_xor_sync(all_lanes, most_here, 2));
        grows = grows || most_here > most[m][h];
      }
    if (__any_sync(all_lanes, grows)) {
#pragma unroll
      for (int m = 0; m < M; ++m)
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const float by = next[m][h] > most[m][h] ? tile::exp2_fast(most[m][h] - next[m][h]) : 1.0f;
          most[m][h] = next[m][h], total[m][h] *= by;
#pragma unroll
          for (int n = 0; n < D / 8; ++n) sum[m][n][2 * h] *= by, sum[m][n][2 * h + 1] *= by;
        }
    }
#pragma unroll
    for (int m = 0; m < M; ++m)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const float from = most[m][h] == -INFINITY ? 0.0f : most[m][h];  // a row that has seen no key yet
#pragma unroll
        for (int j = 0; j < 4; ++j)
#pragma unroll
          for (int e = 0; e < 2; ++e) total[m][h] += s[m][j][2 * h + e] = tile::exp2_fast(s[m][j][2 * h + e] - from);
      }
  }

  // sum += weights of 32 keys times the page's values.
  __device__ __forceinline__ void add(const float (&w)[M][4][4], unsigned values) {
#pragma unroll
    for (int step = 0; step < 2; ++step) {
      unsigned a[M][4];
#pragma unroll
      for (int m = 0; m < M; ++m)
#pragma unroll
        for (int i = 0; i < 4; ++i) a[m][i] = tile::pack(w[m][2 * step + i / 2][i % 2 * 2], w[m][2 * step + i / 2][i % 2 * 2 + 1]);
#pragma unroll
      for (int n = 0; n < D / 8; n += 2) {
        unsigned b[4];
        tile::load_transposed(b, values + step * 16 * Page<D>::value_stride + n * 16);
#pragma unroll
        for (int m = 0; m < M; ++m) tile::multiply(sum[m][n], a[m], b[0], b[1]), tile::multiply(sum[m][n + 1], a[m], b[2], b[3]);
      }
    }
  }
};

// Divides by the totals and stores, 16 rows at a time through the warp's own shared memory.
template <int D, int M>
__device__ __forceinline__ void store_rows(const Rows<D, M>& rows, const PagedTask& a, const Tile& t, int head, int first_row,
                                           float* memory, const RowsOut& out) {
  constexpr int stride = D + 8;
  const int lane = int(threadIdx.x % 32);
#pragma unroll
  for (int m = 0; m < M; ++m) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float total = rows.total[m][h] + __shfl_xor_sync(all_lanes, rows.total[m][h], 1);
      total += __shfl_xor_sync(all_lanes, total, 2);
      const float by = total == 0 ? 0.0f : 1 / total;
#pragma unroll
      for (int n = 0; n < D / 8; ++n)
        *reinterpret_cast<float2*>(memory + (lane / 4 + 8 * h) * stride + n * 8 + lane % 4 * 2) =
            make_float2(rows.sum[m][n][2 * h] * by, rows.sum[m][n][2 * h + 1] * by);
    }
    __syncwarp();
    for (int row = 0; row < 16; ++row) {
      const int r = t.first + first_row + 16 * m + row, query = r / a.group;
      if (query >= t.queries) break;
      const std::int64_t column = std::int64_t(head + r - query * a.group) * D;
      for (int c = lane; c < D; c += 32) store_value(out, t.first_query + query, column + c, memory[row * stride + c]);
    }
    __syncwarp();
  }
}

template <int D, int M, int pages> __global__ void __launch_bounds__(threads) prefill(PagedTask a, RowsOut out) {
  using S = Shape<D, M, pages>;
  extern __shared__ __align__(128) unsigned char shared[];
  cuda::wait_for_previous();
  cuda::let_next_start();
  const int kv_head = int(blockIdx.x), head = kv_head * a.group;
  const Tile t = find_tile(a, int(gridDim.y - 1 - blockIdx.y), S::rows);  // the last ones, which see most keys, first
  if (t.sequence < 0) return;
  const int context = a.context_len[t.sequence], before = context - t.queries;
  const int first_query = t.first / a.group, last_query = min(t.first + S::rows - 1, t.queries * a.group - 1) / a.group;
  const int end = a.causal ? min(before + last_query + 1, context) : context;
  const int begin = a.window > 0 ? max(0, before + first_query + 1 - a.window) : 0;
  const int first_step = begin / S::keys, last_step = end > begin ? (end + S::keys - 1) / S::keys : first_step;
  // Steps between these see no mask.
  const int all_begin = a.window > 0 ? before + last_query + 1 - a.window : 0;
  const int all_end = a.causal ? min(before + first_query + 1, context) : context;

  const unsigned memory = tile::shared_address(shared) + S::query_bytes;
  Stream<D, M, pages> stream{.a = a,
                             .table = a.block_table + t.sequence * a.table_columns,
                             .state = a.state + 2 * a.at.keys(0, kv_head),
                             .memory = memory,
                             .context = context,
                             .last_page = (end + page_keys - 1) / page_keys};
  stream.find_blocks(first_step);
  if (first_step < last_step) stream.send(first_step);
  stream.find_blocks(first_step + 1);
  load_queries<D>(a, t, head, S::rows, S::query_stride, shared);

  const int lane = int(threadIdx.x % 32), first_row = int(threadIdx.x) / 32 * 16 * M;
  const unsigned queries = tile::shared_address(shared) + unsigned((first_row + lane % 16) * S::query_stride + lane / 16 * 16);
  Rows<D, M> rows(a, t, first_row, context);
  for (int step = first_step; step < last_step; ++step) {
    tile::wait_copies<0>();
    __syncthreads();  // this step's pages are there for all; all have done with the other half
    if (step + 1 < last_step) {
      stream.send(step + 1);
      stream.find_blocks(step + 2);
    }
    const unsigned half = memory + unsigned(step % 2 * S::half_bytes);
#pragma unroll
    for (int p = 0; p < pages; ++p) {
      const int key = step * S::keys + p * page_keys;
      if (key >= end || key + page_keys <= begin) continue;
      const unsigned keys = half + p * Page<D>::key_bytes + Page<D>::key_offset(lane);
      float s[M][4][4] = {};
#pragma unroll
      for (int i = 0; i < D / 16; ++i) {
        unsigned b[2][4], q[4];
        Page<D>::load_keys(b, keys, i);
#pragma unroll
        for (int m = 0; m < M; ++m) {
          tile::load_matrices(q, queries + m * 16 * S::query_stride + i * 32);
#pragma unroll
          for (int j = 0; j < 4; ++j) tile::multiply(s[m][j], q, b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
        }
      }
      rows.weigh(s, a.cap, key, key < all_begin || key + page_keys > all_end);
      rows.add(s, half + S::values_at + p * Page<D>::value_bytes + Page<D>::value_offset(lane));
    }
  }
  __syncthreads();
  store_rows(rows, a, t, head, first_row, reinterpret_cast<float*>(shared) + first_row / M * S::result_stride, out);
}

// Calls f.template operator()<M, pages>() with what suits a head_dim: 128 rows where there are blocks enough of them.
template <int D, class F> void with_tile(std::int64_t rows, int multiprocessors, int arch, F&& f) {
  if constexpr (D == 64 || D == 128)
    if (rows >= std::int64_t(multiprocessors) * 3 * 128 && Shape<D, 2, 2>::bytes <= block_shared(arch))
      return f.template operator()<2, 2>();
  f.template operator()<1, D <= 128 ? 2 : 1>();
}

}  // namespace

bool has_prefill_cuda(std::int64_t head_dim, int arch) {
  bool fits = false;
  with_head_dim(head_dim, [&]<int D>() { fits = Shape<D, 1, (D <= 128 ? 2 : 1)>::bytes <= block_shared(arch); });
  return fits;
}

void attention_prefill_cuda(const ir::CudaBound& b) {
  const PagedTask task(b);
  const std::int64_t queries = b.in[0].rows();
  with_head_dim(task.at.head_dim, [&]<int D>() {
    with_tile<D>(queries * task.group * task.kv_heads, b.on.multiprocessors, b.on.arch, [&]<int M, int pages>() {
      using S = Shape<D, M, pages>;
      const std::int64_t tiles = (queries * task.group + S::rows - 1) / S::rows + task.sequences;
      const dim3 grid(unsigned(task.kv_heads), unsigned(tiles));
      cuda::launch(b.on, prefill<D, M, pages>, grid, threads, S::bytes, task, RowsOut(b.out[0]));
    });
  });
}

}  // namespace ridge::op
