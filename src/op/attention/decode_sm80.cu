// Attention of few queries over long contexts: what is read is the cache, once, as fast as memory gives it.
//
// A block takes one query, one kv head (its query heads are the rows of a product on tensor cores) and one share of the
// pages of 32 keys that the query sees; its warps take the share's pages in turn, each with its own ring of pages in
// shared memory that asynchronous copies fill. The shares of a query and head are the blocks of one cluster, which add
// up through each other's shared memory; before sm_90 a second kernel adds up what they leave in scratch. The grid is
// fixed, the shares are made on the device from the context: a short one leaves blocks without work, which end at once.
//
// Queries and weights are sums of two halves: with up to 8 heads the second ones are rows 8 to 15 of the same product.
// The result depends on the sequence's own keys and on the number of shares, which the number of queries decides.
#include <cuda_fp16.h>

#include <algorithm>

#include "cuda/launch.cuh"
#include "op/attention/cuda_kernels.h"
#include "op/store_row.cuh"

namespace ridge::op {
namespace {

using tile::HeadTile, tile::Page, tile::Query, tile::Share;

constexpr int most_warps = 4, most_splits = 16;
constexpr unsigned all_lanes = 0xffffffffu;

// -- PTX: clusters --
__device__ __forceinline__ void cluster_arrive() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
#endif
}
__device__ __forceinline__ void cluster_wait() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
#endif
}
// To the same place of block `rank`.
__device__ __forceinline__ void store_remote(float4* here, int rank, const float4& v) {
#if __CUDA_ARCH__ >= 900
  asm volatile("{.reg .u32 there; mapa.shared::cluster.u32 there, %0, %1; st.shared::cluster.v4.f32 [there], {%2, %3, %4, %5};}"
               ::"r"(tile::shared_address(here)), "r"(rank), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w) : "memory");
#endif
}
__device__ __forceinline__ void store_remote(float2* here, int rank, const float2& v) {
#if __CUDA_ARCH__ >= 900
  asm volatile("{.reg .u32 there; mapa.shared::cluster.u32 there, %0, %1; st.shared::cluster.v2.f32 [there], {%2, %3};}"
               ::"r"(tile::shared_address(here)), "r"(rank), "f"(v.x), "f"(v.y) : "memory");
#endif
}
// -- end of PTX --

// What a block keeps in shared memory: the warps' rings of pages; later, in its ring, each warp's sums. Then its maxima
// and totals; queries that do not fit into registers; what the cluster's other blocks send.
template <int D, bool tall> struct Shape {
  static constexpr int rows = tall ? 16 : 8;  // heads to a block
  static constexpr int units = std::clamp((26 << 10) / Page<D>::value_bytes, 3, 10);
  using Ring = tile::Ring<D, units>;
  static constexpr int ring_bytes = units * Ring::unit_bytes, sum_stride = D + 8;
  using Operand = tile::QueryOperand<D, tall>;
  static constexpr int columns = rows * D, pieces = columns / 32;  // a piece: 32 values of the output
  static constexpr int exchange_bytes = (pieces + most_splits - 1) * 128 + most_splits * rows * 8;
  static_assert(rows * sum_stride * 4 <= ring_bytes && Page<D>::key_bytes <= Ring::unit_bytes && Ring::unit_bytes % 128 == 0);
  static __host__ __device__ constexpr int totals_at(int warps) { return warps * ring_bytes; }
  static __host__ __device__ constexpr int queries_at(int warps) { return totals_at(warps) + warps * rows * 8; }
  static __host__ __device__ constexpr int exchange_at(int warps) { return queries_at(warps) + Operand::shared_bytes; }
};

// Running maximum, total and sum of values of a warp's rows (Milakov and Gimelshein 2018): row lane / 4, and with `tall`
// row 8 + lane / 4. Without it rows 8 to 15 of `sum` belong to the weights' second halves.
template <int D, bool tall> struct Softmax {
  static constexpr int parts = tall ? 2 : 1;
  float most[parts], total[parts], sum[D / 8][4];

  __device__ __forceinline__ Softmax() {
#pragma unroll
    for (int r = 0; r < parts; ++r) most[r] = -INFINITY, total[r] = 0;
#pragma unroll
    for (int n = 0; n < D / 8; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i) sum[n][i] = 0;
  }
  __device__ __forceinline__ void shrink(const float (&by)[parts]) {
#pragma unroll
    for (int r = 0; r < parts; ++r) total[r] *= by[r];
#pragma unroll
    for (int n = 0; n < D / 8; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i) sum[n][i] *= by[tall ? i / 2 : 0];
  }

  // Scores of a page's keys 8 j + .. in s[j], as products left them; becomes weights. `key`: the page's first.
  __device__ __forceinline__ void weigh(float (&s)[4][4], float cap, int key, const Query& query) {
    const bool whole = key >= query.begin && key + page_keys <= query.end;
    float next[parts], by[parts];
#pragma unroll
    for (int r = 0; r < parts; ++r) {
      next[r] = most[r];
#pragma unroll
      for (int j = 0; j < 4; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          float& v = s[j][2 * r + e];
          if constexpr (!tall) v += s[j][2 + e];
          if (cap != 0) v = tile::capped(v, cap);
          const int at = key + 8 * j + int(threadIdx.x % 4) * 2 + e;
          if (!whole && (at < query.begin || at >= query.end)) v = -INFINITY;
          next[r] = fmaxf(next[r], v);
        }
      next[r] = fmaxf(next[r], __shfl_xor_sync(all_lanes, next[r], 1));
      next[r] = fmaxf(next[r], __shfl_xor_sync(all_lanes, next[r], 2));
    }
    const bool grows = next[0] > most[0] || next[parts - 1] > most[parts - 1];
    if (__any_sync(all_lanes, grows)) {
#pragma unroll
      for (int r = 0; r < parts; ++r) by[r] = next[r] > most[r] ? tile::exp2_fast(most[r] - next[r]) : 1.0f, most[r] = next[r];
      shrink(by);
    }
#pragma unroll
    for (int r = 0; r < parts; ++r)
#pragma unroll
      for (int j = 0; j < 4; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e) total[r] += s[j][2 * r + e] = tile::exp2_fast(s[j][2 * r + e] - most[r]);
  }

  // sum += weights of 32 keys times the page's values.
  __device__ __forceinline__ void add(const float (&w)[4][4], unsigned values) {
#pragma unroll
    for (int step = 0; step < 2; ++step) {
      const float(&x)[4] = w[2 * step], (&y)[4] = w[2 * step + 1];
      unsigned high[4], rest[4];
      high[0] = tile::pack(x[0], x[1]), high[2] = tile::pack(y[0], y[1]);
      rest[0] = tile::pack_rest(x[0], x[1]), rest[2] = tile::pack_rest(y[0], y[1]);
      if constexpr (tall) {
        high[1] = tile::pack(x[2], x[3]), high[3] = tile::pack(y[2], y[3]);
        rest[1] = tile::pack_rest(x[2], x[3]), rest[3] = tile::pack_rest(y[2], y[3]);
      } else {
        high[1] = rest[0], high[3] = rest[2];
      }
#pragma unroll
      for (int n = 0; n < D / 8; n += 2) {
        unsigned b[4];
        tile::load_transposed(b, values + step * 16 * Page<D>::value_stride + n * 16);
        tile::multiply(sum[n], high, b[0], b[1]);
        tile::multiply(sum[n + 1], high, b[2], b[3]);
        if constexpr (tall) {
          tile::multiply(sum[n], rest, b[0], b[1]);
          tile::multiply(sum[n + 1], rest, b[2], b[3]);
        }
      }
    }
  }

  // Leaves rows of sums at `to` and (maximum, total) of each at `totals`.
  __device__ __forceinline__ void leave(float* to, float2* totals) const {
    const int lane = int(threadIdx.x % 32);
#pragma unroll
    for (int r = 0; r < parts; ++r) {
      const int row = lane / 4 + 8 * r;
      float t = total[r] + __shfl_xor_sync(all_lanes, total[r], 1);
      t += __shfl_xor_sync(all_lanes, t, 2);
      if (lane % 4 == 0) totals[row] = make_float2(most[r], t);
#pragma unroll
      for (int n = 0; n < D / 8; ++n) {
        float2 v = make_float2(sum[n][2 * r], sum[n][2 * r + 1]);
        if constexpr (!tall) v.x += sum[n][2], v.y += sum[n][3];
        *reinterpret_cast<float2*>(to + row * Shape<D, tall>::sum_stride + n * 8 + lane % 4 * 2) = v;
      }
    }
  }
};

template <int D, bool tall> __device__ __forceinline__ void attend(Softmax<D, tall>& softmax, typename Shape<D, tall>::Ring& ring,
                                                                    const typename Shape<D, tall>::Operand& operand) {
  using S = Shape<D, tall>;
  const unsigned keys = ring.memory + Page<D>::key_offset(ring.lane), values = ring.memory + Page<D>::value_offset(ring.lane);
  unsigned slot = 0;
  const auto next_slot = [&] { slot = slot + S::Ring::unit_bytes == S::ring_bytes ? 0 : slot + S::Ring::unit_bytes; };
  for (int i = 0; i < ring.count; ++i) {
    tile::wait_copies<S::units - 1>();
    __syncwarp();
    float s[4][4] = {};
#pragma unroll
    for (int step = 0; step < D / 16; ++step) {
      unsigned b[2][4], a[4];
      Page<D>::load_keys(b, keys + slot, step);
      operand.template get<0>(a, step);
#pragma unroll
      for (int j = 0; j < 4; ++j) tile::multiply(s[j], a, b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
      if constexpr (tall) {
        operand.template get<1>(a, step);
#pragma unroll
        for (int j = 0; j < 4; ++j) tile::multiply(s[j], a, b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
      }
    }
    __syncwarp();  // all have read: the slot may be filled again
    ring.template send<S::units>(i);
    next_slot();
    softmax.weigh(s, ring.a.cap, ring.page(i) * page_keys, ring.query);
    tile::wait_copies<S::units - 1>();
    __syncwarp();
    softmax.add(s, values + slot);
    __syncwarp();
    ring.template send<S::units + 1>(i);
    next_slot();
  }
  tile::wait_copies<0>();
  __syncwarp();
}

// What blocks leave in scratch when there are no clusters: a tile of sums and totals to each query, tile and share.
struct Parts {
  float* sums = nullptr;
  float2* totals = nullptr;
};

__device__ __forceinline__ void put(const RowsOut& out, int row, std::int64_t column, bool there, float v) {
  if (out.q8 || there) store_value(out, row, column, v);  // q8: whole blocks are
}

template <int D, bool tall>
__global__ void __launch_bounds__(most_warps * 32, 2)
    decode(PagedTask a, RowsOut out, Queries which, int least_pages, Parts parts) {
  using S = Shape<D, tall>;
  extern __shared__ __align__(128) unsigned char shared[];
  const int threads = int(blockDim.x), warps = threads / 32, warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  const int splits = int(gridDim.x), rank = int(blockIdx.x), index = int(blockIdx.z);
  cluster_arrive();
  cuda::wait_for_previous();
  cuda::let_next_start();
  cluster_wait();  // all of the cluster's blocks are there to be written to
  const Query query = tile::find_query(a, which, index);
  if (query.row < 0) return;
  const Share share = tile::share_of(query, splits, least_pages, rank);
  const HeadTile heads(a, int(blockIdx.y), S::rows);
  const int columns = heads.count * D;
  const std::int64_t first_column = std::int64_t(heads.first) * D;
  if (share.count == 0 && rank == 0)  // a row that fills up the batch
    for (int c = int(threadIdx.x); c < (columns + 31) / 32 * 32; c += threads)
      put(out, query.row, first_column + c, c < columns, 0);
  if (rank >= share.count) return;

  typename S::Ring ring{.a = a,
                        .query = query,
                        .table = a.block_table + query.sequence * a.table_columns,
                        .state = a.state + 2 * a.at.keys(0, heads.kv_head),
                        .memory = tile::shared_address(shared) + warp * S::ring_bytes,
                        .first = share.first + warp,
                        .step = warps,
                        .count = max(0, (share.last - share.first - warp + warps - 1) / warps),
                        .lane = lane};
  ring.find_blocks(0);
  [&]<int... unit>(std::integer_sequence<int, unit...>) {
    (ring.template send<unit>(0), ...);
  }(std::make_integer_sequence<int, S::units>());
  const float* const q = a.q + query.row * a.columns + first_column;
  const typename S::Operand operand(a, q, heads.count, shared + S::queries_at(warps));
  Softmax<D, tall> softmax;
  attend(softmax, ring, operand);
  float* const sums = reinterpret_cast<float*>(shared);
  float2* const totals = reinterpret_cast<float2*>(shared + S::totals_at(warps));
  softmax.leave(sums + warp * (S::ring_bytes / 4), totals + warp * S::rows);
  __syncthreads();
  const int used = min(warps, share.last - share.first);
  const auto totals_of = [&](int row) { return [=](int w) { return totals[w * S::rows + row]; }; };
  const auto sums_at = [&](int c) { return sums + c / D * S::sum_stride + c % D; };
  if (share.count == 1) {
    for (int c = int(threadIdx.x); c < (columns + 31) / 32 * 32; c += threads) {
      const bool there = c < columns;
      const float* const at = sums_at(there ? c : 0);
      const auto sum = [&](int w) { return at[w * (S::ring_bytes / 4)]; };
      const auto m = tile::merge<most_warps>(used, sum, totals_of(there ? c / D : 0));
      put(out, query.row, first_column + c, there, m.value / m.total);
    }
    return;
  }
  const std::int64_t part = (std::int64_t(index) * gridDim.y + blockIdx.y) * splits + rank;
  float* const sent = reinterpret_cast<float*>(shared + S::exchange_at(warps));
  float2* const sent_totals = reinterpret_cast<float2*>(sent + (S::pieces + most_splits - 1) * 32);
  for (int c = 4 * int(threadIdx.x); c < columns; c += 4 * threads) {
    const float* const at = sums_at(c);
    const auto sum = [&](int w) { return *reinterpret_cast<const float4*>(at + w * (S::ring_bytes / 4)); };
    const auto m = tile::merge<most_warps>(used, sum, totals_of(c / D));
    if (parts.sums) {
      *reinterpret_cast<float4*>(parts.sums + part * S::columns + c) = m.value;
    } else {  // piece c / 32 is block (c / 32) % count's to finish
      const int piece = c / 32, owner = piece % share.count, place = piece / share.count * share.count + rank;
      store_remote(reinterpret_cast<float4*>(&sent[place * 32 + c % 32]), owner, m.value);
    }
  }
  // Totals of all rows go to all blocks, or once to scratch.
  for (int i = int(threadIdx.x); i < heads.count * (parts.sums ? 1 : share.count); i += threads) {
    const int row = i % heads.count, to = i / heads.count;
    const auto m = tile::merge<most_warps>(used, [](int) { return 0.0f; }, totals_of(row));
    if (parts.sums) parts.totals[part * S::rows + row] = make_float2(m.most, m.total);
    else store_remote(&sent_totals[rank * S::rows + row], to, make_float2(m.most, m.total));
  }
  if (parts.sums) return;
  cluster_arrive();
  cluster_wait();
  for (int place = warp;; place += warps) {
    const int c = (place * share.count + rank) * 32 + lane;
    if (c - lane >= columns) break;
    const bool there = c < columns;
    const float* const at = sent + place * share.count * 32 + (there ? lane : 0);
    const float2* const row_totals = sent_totals + (there ? c / D : 0);
    const auto total = [&](int r) { return row_totals[r * S::rows]; };
    const auto m = tile::merge<most_splits>(share.count, [&](int r) { return at[r * 32]; }, total);
    put(out, query.row, first_column + c, there, m.value / m.total);
  }
}

// Adds up the shares in scratch, where there were several. A warp to 32 values.
template <int D, bool tall>
__global__ void __launch_bounds__(128)
    combine(PagedTask a, RowsOut out, Queries which, int splits, int least_pages, Parts parts) {
  using S = Shape<D, tall>;
  cuda::wait_for_previous();
  cuda::let_next_start();
  const Query query = tile::find_query(a, which, int(blockIdx.z));
  if (query.row < 0) return;
  const Share share = tile::share_of(query, splits, least_pages, 0);
  const HeadTile heads(a, int(blockIdx.y), S::rows);
  const int c = int(blockIdx.x * blockDim.x + threadIdx.x), columns = heads.count * D;
  if (share.count < 2 || c / 32 * 32 >= columns) return;
  const bool there = c < columns;
  const std::int64_t part = (std::int64_t(blockIdx.z) * gridDim.y + blockIdx.y) * splits;
  const float* const at = parts.sums + part * S::columns + (there ? c : 0);
  const float2* const totals = parts.totals + part * S::rows + (there ? c / D : 0);
  const auto total = [&](int r) { return totals[r * S::rows]; };
  const auto m = tile::merge<most_splits>(share.count, [&](int r) { return at[r * S::columns]; }, total);
  put(out, query.row, std::int64_t(heads.first) * D + c, there, m.value / m.total);
}

// How a call is cut up: a power of two of shares, so that about one wave of blocks fills the GPU.
struct Plan {
  int warps = most_warps, splits = 1, least_pages = 2, shared = 0;
};

template <int D, bool tall> Plan plan_for(std::int64_t blocks, int multiprocessors, int arch, int limit) {
  using S = Shape<D, tall>;
  Plan p;
  const bool clusters = arch >= 90;
  const auto bytes = [&] { return S::exchange_at(p.warps) + (clusters ? S::exchange_bytes : 0); };
  while (p.warps > 1 && bytes() > block_shared(arch)) p.warps /= 2;
  p.shared = bytes();
  const std::int64_t wave = std::int64_t(multiprocessors) * std::max(1, multiprocessor_shared(arch) / (p.shared + (1 << 10)));
  while (p.splits * 2 <= limit && blocks * p.splits * 2 <= wave) p.splits *= 2;
  // Where even whole contexts are more than a wave, halves fill the last one better, and even out long contexts.
  if (clusters && p.splits == 1 && blocks < 4 * wave) p.splits = std::min(2, limit);
  if (blocks * p.splits > wave) p.least_pages = 8;
  return p;
}

template <class... Parameters, class... Arguments>
void launch_clusters(const cuda::Launch& on, void (*kernel)(Parameters...), dim3 grid, int threads, int shared_bytes,
                     Arguments... arguments) {
  if (grid.z == 0) return;
  if (grid.x > 8)
    cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), "asking for a large cluster");
  cudaLaunchAttribute attributes[2]{};
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim.x = grid.x, attributes[0].val.clusterDim.y = attributes[0].val.clusterDim.z = 1;
  attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[1].val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid, config.blockDim = dim3(unsigned(threads)), config.dynamicSmemBytes = std::size_t(shared_bytes);
  config.stream = on.stream, config.attrs = attributes, config.numAttrs = on.dependent ? 2 : 1;
  cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes), "asking for shared memory");
  cuda::check(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...), "launching clusters");
}

// The largest cluster of this kernel's blocks that the device runs well: more than 8 blocks are not promised.
template <int D, bool tall> int largest_cluster(const cuda::Launch& on) {
  static const int size = [&] {
    const auto kernel = decode<D, tall>;
    const Plan plan = plan_for<D, tall>(1, on.multiprocessors, on.arch, 1);
    cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, plan.shared), "asking for shared memory");
    if (cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) == cudaSuccess) {
      cudaLaunchAttribute cluster{};
      cluster.id = cudaLaunchAttributeClusterDimension;
      cluster.val.clusterDim.x = most_splits, cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
      cudaLaunchConfig_t config{};
      config.gridDim = dim3(most_splits), config.blockDim = dim3(unsigned(plan.warps * 32));
      config.dynamicSmemBytes = std::size_t(plan.shared), config.attrs = &cluster, config.numAttrs = 1;
      int clusters = 0;
      const cudaError_t answer = cudaOccupancyMaxActiveClusters(&clusters, kernel, &config);
      if (answer == cudaSuccess && clusters * most_splits >= on.multiprocessors * 3 / 4) return most_splits;
    }
    (void)cudaGetLastError();
    return 8;
  }();
  return size;
}

template <int D, bool tall> void launch_decode(const ir::CudaBound& b, const PagedTask& task, Queries which) {
  using S = Shape<D, tall>;
  const bool clusters = b.on.arch >= 90;
  const std::int64_t tiles = std::int64_t(task.kv_heads) * ((task.group + S::rows - 1) / S::rows), count = task.sequences;
  const int limit = clusters ? largest_cluster<D, tall>(b.on) : most_splits;
  const Plan plan = plan_for<D, tall>(count * tiles, b.on.multiprocessors, b.on.arch, limit);
  const RowsOut out(b.out[0]);
  const dim3 grid(unsigned(plan.splits), unsigned(tiles), unsigned(count));
  Parts parts;
  if (clusters && plan.splits > 1) {
    launch_clusters(b.on, decode<D, tall>, grid, plan.warps * 32, plan.shared, task, out, which, plan.least_pages, parts);
    return;
  }
  if (plan.splits > 1) {
    parts.sums = reinterpret_cast<float*>(b.scratch.data());
    parts.totals = reinterpret_cast<float2*>(parts.sums + count * tiles * plan.splits * S::columns);
  }
  cuda::launch(b.on, decode<D, tall>, grid, plan.warps * 32, plan.shared, task, out, which, plan.least_pages, parts);
  if (parts.sums)
    cuda::launch(b.on, combine<D, tall>, dim3(unsigned((S::columns + 127) / 128), grid.y, grid.z), 128, 0, task, out, which,
                 plan.splits, plan.least_pages, parts);
}

template <class F> void with_shape(std::int64_t head_dim, std::int64_t group, F&& f) {
  with_head_dim(head_dim, [&]<int D>() {
    constexpr bool fits = D <= 128;  // 16 heads' sums into registers
    if (fits && group > 8) f.template operator()<D, fits>();
    else f.template operator()<D, false>();
  });
}

}  // namespace

std::int64_t attention_decode_scratch(std::int64_t head_dim, std::int64_t heads, std::int64_t kv_heads, const ir::Target& target) {
  std::int64_t bytes = 0;
  if (target.gpu.arch >= 90) return bytes;
  with_shape(head_dim, heads / kv_heads, [&]<int D, bool tall>() {
    using S = Shape<D, tall>;
    const std::int64_t tiles = kv_heads * ((heads / kv_heads + S::rows - 1) / S::rows);
    for (std::int64_t n = 1; n <= target.most.sequences; ++n) {
      const Plan plan = plan_for<D, tall>(n * tiles, target.gpu.multiprocessors, target.gpu.arch, most_splits);
      if (plan.splits > 1) bytes = std::max(bytes, n * tiles * plan.splits * (S::columns * 4 + S::rows * 8));
    }
  });
  return bytes;
}

void attention_decode_cuda(const ir::CudaBound& b, Queries which) {
  const PagedTask task(b);
  with_shape(task.at.head_dim, task.group, [&]<int D, bool tall>() { launch_decode<D, tall>(b, task, which); });
}

}  // namespace ridge::op
