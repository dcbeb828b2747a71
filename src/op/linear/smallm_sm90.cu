// Some rows of x (9 to 64) times weights of 8 or 16 bits: still bound by reading the weights, but too many products for
// anything but the tensor cores.
//
// A cluster of C blocks takes 64 rows of the weight at a time, and each of its blocks a C-th of their columns: so a
// block needs a C-th of x, which it keeps in shared memory for all the rows it will see. Of a block's 16 warps, four by
// four take 16 rows and a quarter of the block's columns each. Weights come from memory straight into the registers
// that mma wants them in: which columns of a row a lane holds does not matter as long as x is arranged alike. Partial
// sums are sent to the block of the cluster that adds up those of 64 / C rows, in a fixed order. They are sent by
// st.async, which a barrier in the receiver's memory counts: a fence over the cluster would wait for the weights, too.
//
// x is f32 and the tensor cores take halves: x becomes the sum of two (`planes`; an error of 2^-17 or less), or, where
// there is no room, is rounded to one.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <algorithm>

#include "cuda/launch.cuh"
#include "op/device_matrix.h"
#include "op/linear/cuda_kernels.h"

namespace ridge::op {
namespace {

constexpr int threads = 512, parts = 4, unit_rows = 64;  // parts: warps that share a row's columns
constexpr int depth = 2;                                 // pairs on their way
constexpr int most_segments = 8;

struct Segment {
  const std::byte* weight;
  const float* bias;  // or null
  float* out;
  int rows, first;    // first: the number of its first unit, over all segments
};
struct Product {
  Segment segment[most_segments];
  const float* x;
  int segments, units;
  int tokens, columns, vectors;  // vectors: of 16 bytes, of a row
  int pairs, slice;              // pairs of blocks of a row, and of one warp's part of it
};

template <DType type> struct Weight;
template <> struct Weight<DType::bf16> {
  static constexpr int values = 8;  // of a vector
  static constexpr Half half = Half::bf16;
};
template <> struct Weight<DType::f16> {
  static constexpr int values = 8;
  static constexpr Half half = Half::f16;
};
template <> struct Weight<DType::f8_e4m3> {
  static constexpr int values = 16;
  static constexpr Half half = Half::f16;
};

__device__ __forceinline__ uint4 load_weights(const std::byte* at) {  // volatile: stays before the wait
  uint4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(at));
  return v;
}
__device__ __forceinline__ void ask_into_l2(const std::byte* at, int bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(at), "r"(bytes) : "memory");
#endif
}
template <Half half> __device__ __forceinline__ void mma(float (&c)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1) {
#if __CUDA_ARCH__ >= 800
  if constexpr (half == Half::bf16)
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
#endif
}
__device__ __forceinline__ int cluster_rank() {
  unsigned rank = 0;
#if __CUDA_ARCH__ >= 900
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
  return int(rank);
}
// Arriving says nothing of what was stored before, but that barriers have been made ready.
__device__ __forceinline__ void cluster_arrive() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.mbarrier_init.release.cluster;\n\tbarrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#endif
}
__device__ __forceinline__ void cluster_wait() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

using Full = unsigned long long;  // an mbarrier: its phase ends when the bytes that were expected have come
__device__ __forceinline__ unsigned place_of(const void* shared) { return unsigned(__cvta_generic_to_shared(shared)); }
__device__ __forceinline__ void make_ready(Full* full) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(place_of(full)) : "memory");
#endif
}
__device__ __forceinline__ void expect(Full* full, int bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place_of(full)), "r"(bytes) : "memory");
#endif
}
__device__ __forceinline__ void wait_for(Full* full, int parity) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "{\n\t.reg .pred done;\n\t"
      "again:\n\t"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t"
      "@!done bra again;\n\t}" ::"r"(place_of(full)), "r"(parity) : "memory");
#endif
}
// The place in another block's shared memory that corresponds to this one's.
__device__ __forceinline__ unsigned place_in(int rank, const void* mine) {
  unsigned at = 0;
#if __CUDA_ARCH__ >= 900
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(place_of(mine)), "r"(rank));
#endif
  return at;
}
__device__ __forceinline__ void send(unsigned to, float a, float b, unsigned full) {
#if __CUDA_ARCH__ >= 900
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.f32 [%0], {%1, %2}, [%3];" ::"r"(to), "f"(a), "f"(b), "r"(full) : "memory");
#endif
}

// A vector's values as pairs of halves.
template <DType type> __device__ __forceinline__ void unpack(const uint4& v, unsigned (&pair)[Weight<type>::values / 2]) {
  const unsigned word[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if constexpr (type != DType::f8_e4m3) {
      pair[i] = word[i];
    } else {
      const __half2_raw low = __nv_cvt_fp8x2_to_halfraw2(static_cast<__nv_fp8x2_storage_t>(word[i] & 0xffffu), __NV_E4M3);
      const __half2_raw high = __nv_cvt_fp8x2_to_halfraw2(static_cast<__nv_fp8x2_storage_t>(word[i] >> 16), __NV_E4M3);
      pair[2 * i] = low.x | unsigned(low.y) << 16, pair[2 * i + 1] = high.x | unsigned(high.y) << 16;
    }
  }
}

__device__ __forceinline__ int segment_of(const Product& p, int unit) {
  int s = 0;
  while (s + 1 < p.segments && unit >= p.segment[s + 1].first) ++s;
  return s;
}
// Row `r` of a unit; beyond the segment's last row: that one again, whose results are not stored.
__device__ __forceinline__ const std::byte* row_of(const Product& p, int unit, int r) {
  const Segment& s = p.segment[segment_of(p, unit)];
  return s.weight + std::int64_t(min((unit - s.first) * unit_rows + r, s.rows - 1)) * p.vectors * 16;
}

// Where a warp's next pair of blocks comes from. A block is four vectors of each of 16 rows; lane 4 g + t loads vector t
// of rows g and g + 8.
struct Source {
  int unit, pair = 0;
  const std::byte* row[2];

  __device__ Source(const Product& p, int first, int tile) : unit(first) {
    if (unit < p.units) find(p, tile);
  }
  __device__ void find(const Product& p, int tile) {
    const int g = int(threadIdx.x % 32 / 4);
    row[0] = row_of(p, unit, tile * 16 + g), row[1] = row_of(p, unit, tile * 16 + g + 8);
  }
  __device__ void load(const Product& p, int tile, int first_pair, int stride, uint4 (&w)[4]) {
    if (unit >= p.units) return;
    if (first_pair + pair < p.pairs) {
#pragma unroll
      for (int b = 0; b < 2; ++b) {  // beyond the end of a row: its last vector, times the zeros that x has there
        const int vector = min(((first_pair + pair) * 2 + b) * 4 + int(threadIdx.x % 4), p.vectors - 1);
        w[2 * b] = load_weights(row[0] + std::int64_t(vector) * 16);
        w[2 * b + 1] = load_weights(row[1] + std::int64_t(vector) * 16);
      }
    }
    if (++pair < p.slice) return;
    pair = 0;
    unit += stride;
    if (unit < p.units) find(p, tile);
  }
};

template <Half half> __device__ __forceinline__ unsigned two_halves(float a, float b) {
  if constexpr (half == Half::bf16) {
    const __nv_bfloat162 v = __floats2bfloat162_rn(a, b);
    return __bfloat16_as_ushort(v.x) | unsigned(__bfloat16_as_ushort(v.y)) << 16;
  } else {
    const __half2 v = __floats2half2_rn(a, b);
    return __half_as_ushort(v.x) | unsigned(__half_as_ushort(v.y)) << 16;
  }
}
template <Half half> __device__ __forceinline__ float2 as_floats(unsigned two) {
  if constexpr (half == Half::bf16) return {__uint_as_float(two << 16), __uint_as_float(two & 0xffff0000u)};
  else return {__half2float(__ushort_as_half(static_cast<unsigned short>(two))), __half2float(__ushort_as_half(static_cast<unsigned short>(two >> 16)))};
}

// How x lies in shared memory: [block][plane][tile of 8 tokens][16 bytes of a vector's halves][lane], as mma wants it.
template <DType type, int planes, int tiles> struct StagedX {
  static constexpr int values = Weight<type>::values, eights = values / 8, block = planes * tiles * eights * 32;  // uint4s to a block
  static constexpr Half half = Weight<type>::half;

  // Calls f(uint4s from the beginning of plane 0, the eight values) for each eight of this warp's. A lane has always
  // the same token.
  template <class F> static __device__ void for_each(const Product& p, int rank, F f) {
    const int warp = int(threadIdx.x / 32), lane = int(threadIdx.x % 32);
    const int u = warp % eights, tile = warp / eights % tiles, token = tile * 8 + lane / 4;
    const int blocks = 2 * parts * p.slice, first = rank * blocks;
    const float* row = p.x + std::int64_t(token) * p.columns;
#pragma unroll 4
    for (int b = warp / (eights * tiles); b < blocks; b += threads / 32 / (eights * tiles)) {
      const int c = ((first + b) * 4 + lane % 4) * values + u * 8;
      float4 low{}, high{};
      if (token < p.tokens && c < p.columns) low = *reinterpret_cast<const float4*>(row + c), high = *reinterpret_cast<const float4*>(row + c + 4);
      f(b * block + (tile * eights + u) * 32 + lane, low, high);
    }
  }

  static __device__ void stage(const Product& p, int rank, uint4* to, float by) {
    for_each(p, rank, [&](int at, float4 low, float4 high) {
      const float v[8] = {low.x * by, low.y * by, low.z * by, low.w * by, high.x * by, high.y * by, high.z * by, high.w * by};
      unsigned word[planes][4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float a = v[2 * i], b = v[2 * i + 1];
#pragma unroll
        for (int plane = 0; plane < planes; ++plane) {
          word[plane][i] = two_halves<half>(a, b);
          const float2 taken = as_floats<half>(word[plane][i]);
          a -= taken.x, b -= taken.y;
        }
      }
#pragma unroll
      for (int plane = 0; plane < planes; ++plane)
        to[at + plane * tiles * eights * 32] = {word[plane][0], word[plane][1], word[plane][2], word[plane][3]};
    });
  }
};

// f16 reaches from 2^-24 to 65504 only: a token's values in this block are divided by a power of two that brings the
// largest to 2^14 or a little more.
__device__ __forceinline__ float scale_of(float most) {
  const int exponent = __float_as_int(most) >> 23;  // with its bias of 127
  return exponent < 27 || exponent == 255 ? 1.0f : __int_as_float((exponent - 14) << 23);
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define RIDGE_CLUSTER(C)
#else
#define RIDGE_CLUSTER(C) __cluster_dims__(C, 1, 1)
#endif

// How partial sums lie where they are added up: [warp of the cluster that shares these columns' rows][row][token].
template <int tiles> struct Sums {
  static constexpr int turns = tiles == 8 ? 2 : 1, turn_tiles = tiles / turns;  // tokens in two turns where they are many
  static constexpr int tokens = 8 * turn_tiles, row = tokens + 2;  // so that rows begin in different banks
  static constexpr int floats = parts * unit_rows * row, bytes = parts * unit_rows * tokens * int(sizeof(float));
};

template <DType type, int planes, int tiles, int C>
__global__ void RIDGE_CLUSTER(C) __launch_bounds__(threads, 1) multiply_some(const __grid_constant__ Product p) {
  using W = Weight<type>;
  using X = StagedX<type, planes, tiles>;
  using S = Sums<tiles>;
  constexpr int tokens = 8 * tiles, rows = unit_rows / C;  // rows: of a unit, that this block adds up
  constexpr bool scaled = W::half == Half::f16;
  extern __shared__ uint4 shared[];
  uint4* const x = shared;
  float* const sums = reinterpret_cast<float*>(x + 2 * parts * p.slice * X::block);  // two buffers
  float* const scale = sums + 2 * S::floats;                                          // of each token
  Full* const full = reinterpret_cast<Full*>(scale + tokens);                         // of each buffer

  const int warp = int(threadIdx.x / 32), lane = int(threadIdx.x % 32), tile = warp / parts, part = warp % parts;
  const int rank = cluster_rank(), stride = int(gridDim.x) / C, first_pair = (rank * parts + part) * p.slice;
  int unit = int(blockIdx.x) / C;

  if (threadIdx.x < 2) make_ready(full + threadIdx.x);
  cluster_arrive();
  Source source(p, unit, tile);
  uint4 w[depth][4] = {};
#pragma unroll
  for (int q = 0; q < depth; ++q) source.load(p, tile, first_pair, stride, w[q]);
  if (lane < 16 && unit < p.units && p.slice > depth) {  // what follows of the unit's rows
    const int at = (first_pair + depth) * 128, bytes = min((p.slice - depth) * 128, p.vectors * 16 - at);
    if (bytes > 0) ask_into_l2(row_of(p, unit, tile * 16 + lane) + at, bytes);
  }
  const int my_row = rank * rows + int(threadIdx.x) % rows;  // of the results that this thread will store
  const auto bias_of = [&](int of) {
    if (of >= p.units) return 0.0f;
    const Segment& s = p.segment[segment_of(p, of)];
    return s.bias ? __ldg(s.bias + min((of - s.first) * unit_rows + my_row, s.rows - 1)) : 0.0f;
  };
  float bias = bias_of(unit);
  cuda::let_next_start();
  cuda::wait_for_previous();

  if constexpr (scaled) {
    int* const most = reinterpret_cast<int*>(scale);
    if (threadIdx.x < tokens) most[threadIdx.x] = 0;
    __syncthreads();
    float largest = 0;
    X::for_each(p, rank, [&](int, float4 a, float4 b) {
      largest = fmaxf(largest, fmaxf(fmaxf(fmaxf(fabsf(a.x), fabsf(a.y)), fmaxf(fabsf(a.z), fabsf(a.w))),
                                     fmaxf(fmaxf(fabsf(b.x), fabsf(b.y)), fmaxf(fabsf(b.z), fabsf(b.w)))));
    });
    const int token = warp / X::eights % tiles * 8 + lane / 4;
    atomicMax(most + token, __float_as_int(largest));
    __syncthreads();
    const float s = scale_of(__int_as_float(most[token]));
    __syncthreads();
    if (lane % 4 == 0) scale[token] = s;  // several warps store the same
    X::stage(p, rank, x, 1 / s);
  } else {
    X::stage(p, rank, x, 1);
  }
  __syncthreads();

  float sum[tiles][4] = {};
  int pair = 0, turn = 0;  // turn: how often sums were sent
  const auto consume = [&](const uint4 (&v)[4]) {
    if (first_pair + pair >= p.pairs) return;
#pragma unroll
    for (int b = 0; b < 2; ++b) {
      const uint4* at = x + ((part * p.slice + pair) * 2 + b) * X::block + lane;
      unsigned upper[W::values / 2], lower[W::values / 2];
      unpack<type>(v[2 * b], upper), unpack<type>(v[2 * b + 1], lower);
#pragma unroll
      for (int u = 0; u < X::eights; ++u)
#pragma unroll
        for (int plane = 0; plane < planes; ++plane)
#pragma unroll
          for (int n = 0; n < tiles; ++n) {
            const uint4 xs = at[((plane * tiles + n) * X::eights + u) * 32];
            mma<W::half>(sum[n], upper[4 * u], lower[4 * u], upper[4 * u + 1], lower[4 * u + 1], xs.x, xs.y);
            mma<W::half>(sum[n], upper[4 * u + 2], lower[4 * u + 2], upper[4 * u + 3], lower[4 * u + 3], xs.z, xs.w);
          }
    }
  };
  // Sends of turn t + 2 go where those of turn t lie. Whoever sends them has received all of turn t + 1; and a block sends
  // its own of turn t + 1 when all its warps have read what came in turn t.
  const auto finish = [&] {
    const Segment& s = p.segment[segment_of(p, unit)];
    const int row = (unit - s.first) * unit_rows + my_row;
#pragma unroll
    for (int half = 0; half < S::turns; ++half, ++turn) {
      float* const buffer = sums + turn % 2 * S::floats;
      __syncthreads();
      if (threadIdx.x == 0) expect(full + turn % 2, S::bytes);
#pragma unroll
      for (int h = 0; h < 2; ++h) {  // rows g, then rows g + 8 of the tile
        const int r = tile * 16 + h * 8 + lane / 4, to = r / rows;
        const unsigned place = place_in(to, buffer + ((rank * parts + part) * rows + r % rows) * S::row + lane % 4 * 2);
        const unsigned count = place_in(to, full + turn % 2);
#pragma unroll
        for (int n = 0; n < S::turn_tiles; ++n) {
          float(&of)[4] = sum[half * S::turn_tiles + n];
          const float* by = scale + (half * S::turn_tiles + n) * 8 + lane % 4 * 2;
          send(place + n * 32, scaled ? of[2 * h] * by[0] : of[2 * h], scaled ? of[2 * h + 1] * by[1] : of[2 * h + 1], count);
          of[2 * h] = of[2 * h + 1] = 0;
        }
      }
      wait_for(full + turn % 2, turn / 2 % 2);
      const int first = half * S::tokens, end = min(p.tokens - first, S::tokens);
      for (int token = int(threadIdx.x) / rows; token < end; token += threads / rows) {
        const float* from = buffer + int(threadIdx.x) % rows * S::row + token;
        float total = 0;
#pragma unroll
        for (int c = 0; c < C; ++c) {
          float f[parts];
#pragma unroll
          for (int k = 0; k < parts; ++k) f[k] = from[(c * parts + k) * rows * S::row];
          total += (f[0] + f[1]) + (f[2] + f[3]);
        }
        if (row < s.rows) s.out[std::int64_t(first + token) * s.rows + row] = total + bias;
      }
    }
    unit += stride;
    bias = bias_of(unit);
  };

  cluster_wait();  // all blocks run, and their barriers are ready
  while (unit < p.units) {
#pragma unroll
    for (int q = 0; q < depth; ++q) {
      consume(w[q]);
      source.load(p, tile, first_pair, stride, w[q]);
      if (++pair == p.slice) {
        pair = 0;
        finish();
        if (unit >= p.units) break;
      }
    }
  }
  // What was sent here has come; so a block may leave.
}

constexpr int most_shared = 224 << 10;

int blocks_of(std::int64_t columns) { return columns >= 8192 ? 8 : 4; }  // to a cluster
int tiles_of(std::int64_t tokens) { return tokens <= 8 ? 1 : tokens <= 16 ? 2 : tokens <= 32 ? 4 : 8; }
int values_of(DType type) { return 16 / info(type).block_bytes; }
int pairs_of(DType type, std::int64_t columns) { return int((columns + 8 * values_of(type) - 1) / (8 * values_of(type))); }
int slice_of(DType type, std::int64_t columns) {
  const int among = parts * blocks_of(columns);
  return (pairs_of(type, columns) + among - 1) / among;
}
std::int64_t shared_bytes(DType type, std::int64_t columns, int tiles, int planes) {
  const std::int64_t x = std::int64_t(slice_of(type, columns)) * 2 * parts * planes * tiles * values_of(type) / 8 * 512;
  const int sums = 2 * parts * unit_rows * (8 * std::min(tiles, 4) + 2) * int(sizeof(float));
  return x + sums + tiles * 8 * int(sizeof(float)) + 2 * int(sizeof(Full));
}
int planes_of(DType type, std::int64_t columns, std::int64_t tokens) {  // 0: it does not fit
  const int tiles = tiles_of(tokens);
  if (tiles < 8 && shared_bytes(type, columns, tiles, 2) <= most_shared) return 2;
  return tiles >= 4 && shared_bytes(type, columns, tiles, 1) <= most_shared ? 1 : 0;
}

// Clusters need multiprocessors that lie together, of which a few are left over.
template <int C> int clusters_at_once(const void* kernel, int shared_bytes) {
  cudaLaunchAttribute size{};
  size.id = cudaLaunchAttributeClusterDimension;
  size.val.clusterDim = {C, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(C), config.blockDim = dim3(threads), config.dynamicSmemBytes = std::size_t(shared_bytes);
  config.attrs = &size, config.numAttrs = 1;
  int count = 0;
  cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes), "asking for shared memory");
  cuda::check(cudaOccupancyMaxActiveClusters(&count, kernel, &config), "asking how many clusters run at once");
  return std::max(1, count);
}

template <DType type, int planes, int tiles, int C> void launch_clusters(const cuda::Launch& on, const Product& p) {
  auto* const kernel = multiply_some<type, planes, tiles, C>;
  const int bytes = int(shared_bytes(type, p.columns, tiles, planes));
  static const int at_once = clusters_at_once<C>(reinterpret_cast<const void*>(kernel), bytes);  // one block fits anywhere
  cuda::launch(on, kernel, dim3(unsigned(C * std::min(at_once, p.units))), threads, bytes, p);
}

template <DType type> void launch_type(const cuda::Launch& on, const Product& p) {
  const int tiles = tiles_of(p.tokens), planes = planes_of(type, p.columns, p.tokens);
  const auto with = [&]<int C>() {
    if (tiles == 1) launch_clusters<type, 2, 1, C>(on, p);
    else if (tiles == 2) launch_clusters<type, 2, 2, C>(on, p);
    else if (tiles == 4 && planes == 2) launch_clusters<type, 2, 4, C>(on, p);
    else if (tiles == 4) launch_clusters<type, 1, 4, C>(on, p);
    else launch_clusters<type, 1, 8, C>(on, p);
  };
  if (blocks_of(p.columns) == 8) with.template operator()<8>();
  else with.template operator()<4>();
}

}  // namespace

int small_planes(DType weight, std::int64_t columns, std::int64_t tokens, int arch) {
  const bool halves = weight == DType::f16 || weight == DType::bf16 || weight == DType::f8_e4m3;
  if (!halves || arch < 90 || arch >= 120 || tokens > small_most_tokens || !has_matvec_kernel(weight, columns)) return 0;
  return planes_of(weight, columns, tokens);
}

void linear_small_cuda(const ir::CudaBound& b) {
  const View x = b.in[0];
  for (DType type : {DType::f16, DType::bf16, DType::f8_e4m3}) {  // a launch for each type that is there
    const Product none{.x = x.as<float>(), .tokens = int(x.rows()), .columns = int(x.columns()), .vectors = int(x.columns() / values_of(type)),
                       .pairs = pairs_of(type, x.columns()), .slice = slice_of(type, x.columns())};
    Product p = none;
    const auto launch = [&] {
      if (type == DType::f16) launch_type<DType::f16>(b.on, p);
      else if (type == DType::bf16) launch_type<DType::bf16>(b.on, p);
      else launch_type<DType::f8_e4m3>(b.on, p);
      p = none;
    };
    for (std::size_t s = 0; s < b.out.size(); ++s) {
      const View weight = b.in[1 + s], bias = b.in[1 + b.out.size() + s];
      if (weight.dtype != type || weight.dim(0) == 0) continue;
      p.segment[p.segments++] = {weight.data, bias.as<float>(), b.out[s].as<float>(), int(weight.dim(0)), p.units};
      p.units += int((weight.dim(0) + unit_rows - 1) / unit_rows);
      if (p.segments == most_segments) launch();
    }
    if (p.segments > 0) launch();
  }
}

}  // namespace ridge::op
