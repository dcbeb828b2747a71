// What smallm_sm90.cu is made of: clusters, tensor cores, and how x lies in shared memory.
//
// A vector is 16 bytes of a weight's row, a chunk four vectors: 64 bytes. Of a chunk of 8 rows lane 4 g + t holds
// vector t of row g, which is how mma wants its first operand if x is arranged alike: which columns of a row a lane
// holds does not matter. An eight is eight values of a vector (f8_e4m3: one of its two halves).
#pragma once
#include "cuda/bulk.cuh"
#include "op/linear/matvec_plain.cuh"

namespace ridge::op::smallm {

constexpr int warps = 8, threads = 32 * warps;
constexpr int warp_rows = 32, chunk_bytes = 64, stage_bytes = warp_rows * chunk_bytes;  // a stage: of one warp

// Bytes that L2 fetches at once when the first of them is asked for: 0, 128 or 256. Neighbours come a little later.
constexpr int fetch = 256;

struct Product {
  matvec::Segment segment[matvec::most_segments];  // first: of the rows over all segments
  const float* x;
  Around around;
  int segments, rows;  // rows: of all segments; of gates, pairs of rows
  int tokens, columns, vectors;
  int ranks, parts, groups;  // blocks to a cluster, warps that share a row's columns in a block, 8 / parts
  int slice;                 // chunks of a row that a warp takes
  int stages, sums_floats;   // of the shared memory
};

template <DType type> struct Form {  // how a weight's values become halves
  static constexpr int values = type == DType::f8_e4m3 ? 16 : 8, eights = values / 8;
  static constexpr Half half = type == DType::bf16 ? Half::bf16 : Half::f16;

  static __device__ __forceinline__ void unpack(const uint4& v, int u, unsigned (&pair)[4]) {  // eight u of a vector
    if constexpr (eights == 1) {
      pair[0] = v.x, pair[1] = v.y, pair[2] = v.z, pair[3] = v.w;
    } else {
      const unsigned word[2] = {u ? v.z : v.x, u ? v.w : v.y};
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const unsigned two = i % 2 ? word[i / 2] >> 16 : word[i / 2] & 0xffffu;
        const __half2_raw h = __nv_cvt_fp8x2_to_halfraw2(static_cast<__nv_fp8x2_storage_t>(two), __NV_E4M3);
        pair[i] = h.x | unsigned(h.y) << 16;
      }
    }
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
  else
    return {__half2float(__ushort_as_half(static_cast<unsigned short>(two))),
            __half2float(__ushort_as_half(static_cast<unsigned short>(two >> 16)))};
}

// f16 reaches from 2^-24 to 65504 only: a token's values in a block are divided by a power of two that brings the
// largest to 2^14 or a little more.
__device__ __forceinline__ float scale_of(float most) {
  const int exponent = __float_as_int(most) >> 23;  // with its bias of 127
  return exponent < 27 || exponent == 255 ? 1.0f : __int_as_float((exponent - 14) << 23);
}

template <Half half>
__device__ __forceinline__ void mma(float (&c)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0,
                                    unsigned b1) {
#if __CUDA_ARCH__ >= 800
  if constexpr (half == Half::bf16)
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, "
        "%2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
#endif
}

// 16 bytes of a weight, or zeros.
__device__ __forceinline__ void copy_weights(std::byte* to, const std::byte* from, bool there) {
#if __CUDA_ARCH__ >= 800
  const unsigned at = cuda::shared_address(to), bytes = there ? 16 : 0;
  if constexpr (fetch == 256)
    asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(bytes) : "memory");
  else if constexpr (fetch == 128)
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(bytes) : "memory");
  else asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(bytes) : "memory");
#endif
}
__device__ __forceinline__ void wait_for_all_but(int groups) {  // 2 to 8
  switch (groups) {
    case 2: return matvec::wait_for_copies<2>();
    case 3: return matvec::wait_for_copies<3>();
    case 4: return matvec::wait_for_copies<4>();
    case 5: return matvec::wait_for_copies<5>();
    case 6: return matvec::wait_for_copies<6>();
    case 7: return matvec::wait_for_copies<7>();
    default: return matvec::wait_for_copies<8>();
  }
}

#if __CUDA_ARCH__ >= 900

__device__ __forceinline__ int cluster_rank() {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return int(rank);
}
// Relaxed: a fence over the cluster would wait for the weights, too. So arriving says of what a thread did before only
// that barriers have been made ready, and that values are no longer in shared memory when they have been used.
__device__ __forceinline__ void cluster_arrive() { asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory"); }
__device__ __forceinline__ void cluster_wait() { asm volatile("barrier.cluster.wait.acquire;" ::: "memory"); }
// The place in another block's shared memory that corresponds to this one's.
__device__ __forceinline__ unsigned place_in(int rank, const void* mine) {
  unsigned at;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(cuda::shared_address(mine)), "r"(rank));
  return at;
}
// Stores into another block's shared memory, whose barrier counts the bytes.
__device__ __forceinline__ void send(unsigned to, float a, unsigned full) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];" ::"r"(to), "f"(a),
               "r"(full)
               : "memory");
}
__device__ __forceinline__ void send(unsigned to, float a, float b, unsigned full) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.f32 [%0], {%1, %2}, [%3];" ::"r"(to),
               "f"(a), "f"(b), "r"(full)
               : "memory");
}
__device__ __forceinline__ void send(unsigned to, float a, float b, float c, float d, unsigned full) {
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(to),
      "f"(a), "f"(b), "f"(c), "f"(d), "r"(full)
      : "memory");
}

// The rows that a cluster takes at a time: the groups of its warps take `step` (or fewer, the last) each.
struct Unit {
  int first, count, step;
};
// The rows of a cluster in units as even as can be.
struct Units {
  int first, count, each, more;  // rows from `first` on in `count` units of `each`, the first `more` of them one more

  __device__ Units(const Product& p) {
    const int clusters = int(gridDim.x) / p.ranks, cluster = int(blockIdx.x) / p.ranks;
    first = int(std::int64_t(p.rows) * cluster / clusters);
    const int rows = int(std::int64_t(p.rows) * (cluster + 1) / clusters) - first;
    const int most = p.groups * (p.around.gates ? warp_rows / 2 : warp_rows);
    count = (rows + most - 1) / most;
    each = count ? rows / count : 0, more = count ? rows % count : 0;
  }
  __device__ Unit at(const Product& p, int u) const {
    const int rows = each + (u < more);
    return {first + u * each + min(u, more), rows, (rows + p.groups - 1) / p.groups};
  }
};
// Row l of the 32 of a group: its number over all segments, of gates that of the pair; -1: there is none. Gates have a
// row of the first segment at l < 16 and the one that it gates at l + 16.
__device__ __forceinline__ int number_of(const Product& p, const Unit& unit, int group, int l) {
  const int r = p.around.gates ? l % 16 : l, number = group * unit.step + r;
  return r < unit.step && number < unit.count ? unit.first + number : -1;
}
__device__ __forceinline__ const matvec::Segment& segment_of(const Product& p, int l,
                                                             int& number) {  // number: becomes the segment's row
  if (p.around.gates) return p.segment[l / 16];
  const matvec::Segment& s = p.segment[matvec::segment_of(p, number)];
  number -= s.first;
  return s;
}

// What a lane sends for: vector t of each chunk of rows g, g + 8, g + 16 and g + 24 of its group. It reads what it sent
// for itself, so that nobody need wait for anybody.
struct Sender {
  const std::byte* row[4];
  unsigned there = 0;  // which of them
  int unit = 0, step = 0;

  __device__ void find(const Product& p, const Units& units, int group) {
    if (unit >= units.count) return;
    const Unit of = units.at(p, unit);
    there = 0;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int l = j * 8 + int(threadIdx.x % 32 / 4);
      int number = number_of(p, of, group, l);
      row[j] = p.segment[0].weight;
      if (number < 0) continue;
      there |= 1u << j;
      const matvec::Segment& s = segment_of(p, l, number);
      row[j] = s.weight + std::int64_t(number) * p.vectors * 16;
    }
  }
  __device__ void send(const Product& p, const Units& units, int group, int first_chunk, std::byte* stage) {
    if (unit < units.count) {
      const int vector = (first_chunk + step) * 4 + int(threadIdx.x % 4), at = min(vector, p.vectors - 1) * 16;
#pragma unroll
      for (int j = 0; j < 4; ++j) copy_weights(stage + j * 512, row[j] + at, vector < p.vectors && there >> j & 1);
      if (++step == p.slice) {
        step = 0, ++unit;
        find(p, units, group);
      }
    }
    matvec::end_copies();
  }
};

// x in shared memory: [eight of the block's columns][plane][tile of 8 tokens][lane], 16 bytes of halves each. Lane
// 4 g + t has token g of the tile and, as of a weight, vector t of the chunk.
template <DType type, int planes, int tiles> struct Stager {
  static constexpr int tokens = 8 * tiles, values = Form<type>::values, eights = Form<type>::eights;
  static constexpr int stride = warps / tiles, batch = 8;  // warps that share a tile's eights; eights loaded at once
  static constexpr bool scaled = Form<type>::half == Half::f16;

  const Product& p;
  const float4* norm;  // its weight for the block's columns, in shared memory
  int tile = int(threadIdx.x / 32) % tiles, sub = int(threadIdx.x / 32) / tiles, lane = int(threadIdx.x % 32);
  int token = tile * 8 + lane / 4, first_column, items;
  float4 v[batch][2];
  // Squares of the eights n of this lane with one n % 8: which lane has them depends on the number of tokens, their
  // order must not.
  float square[tiles] = {};

  __device__ Stager(const Product& product, int rank, const float* norm_shared)
      : p(product), norm(reinterpret_cast<const float4*>(norm_shared)) {
    items = p.parts * p.slice * eights;
    first_column = rank * items * 32;
  }
  __device__ int item(int k, int j) const { return sub + stride * (batch * k + j); }
  __device__ int batches() const { return (items + batch * stride - 1) / (batch * stride); }
  __device__ int column(int i) const {
    return (i / eights * 4 + lane % 4) * values + i % eights * 8;
  }  // of the block's
  __device__ void load(int k) {
    const float* const row = p.x + std::int64_t(min(token, p.tokens - 1)) * p.columns;
#pragma unroll
    for (int j = 0; j < batch; ++j) {
      const int i = item(k, j), c = first_column + column(i);
      const bool there = i < items && c < p.columns && token < p.tokens;
      const float4* const from = reinterpret_cast<const float4*>(row + c);
      v[j][0] = there ? __ldcg(from) : float4{}, v[j][1] = there ? __ldcg(from + 1) : float4{};
    }
  }
  __device__ void normalize(int k, bool count) {
    if (!p.around.norm) return;
#pragma unroll
    for (int j = 0; j < batch; ++j) {
      const int i = item(k, j);
      if (i >= items) break;
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        float4& a = v[j][h];
        float& s = square[j % tiles];
        if (count) s = fmaf(a.w, a.w, fmaf(a.z, a.z, fmaf(a.y, a.y, fmaf(a.x, a.x, s))));
        const float4 g = norm[column(i) / 4 + h];
        const float o = p.around.offset;
        a = {a.x * (g.x + o), a.y * (g.y + o), a.z * (g.z + o), a.w * (g.w + o)};
      }
    }
  }
  __device__ float largest() const {
    float most = 0;
#pragma unroll
    for (int j = 0; j < batch; ++j)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const float4& a = v[j][h];
        most = fmaxf(most, fmaxf(fmaxf(fabsf(a.x), fabsf(a.y)), fmaxf(fabsf(a.z), fabsf(a.w))));
      }
    return most;
  }
  __device__ void store(int k, uint4* x, float by) const {
#pragma unroll
    for (int j = 0; j < batch; ++j) {
      const int i = item(k, j);
      if (i >= items) break;
      unsigned word[planes][4];
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        const float4& of = v[j][q / 2];
        float a = (q % 2 ? of.z : of.x) * by, b = (q % 2 ? of.w : of.y) * by;
#pragma unroll
        for (int plane = 0; plane < planes; ++plane) {
          word[plane][q] = two_halves<Form<type>::half>(a, b);
          const float2 taken = as_floats<Form<type>::half>(word[plane][q]);
          a -= taken.x, b -= taken.y;
        }
      }
#pragma unroll
      for (int plane = 0; plane < planes; ++plane)
        x[((i * planes + plane) * tiles + tile) * 32 + lane] = {word[plane][0], word[plane][1], word[plane][2],
                                                                word[plane][3]};
    }
  }

  // Everything, the first batch being on its way. most: of each token, zero before; scale: what the token's halves are
  // to be multiplied by; residues [8][tokens]: sums of squares.
  __device__ void run(uint4* x, int* most, float* scale, float* residues) {
    float by = 1;
    const int n = batches();
    if constexpr (scaled) {
      float mine = 0;
      for (int k = 0; k < n; ++k) {
        if (k > 0) load(k);
        normalize(k, true);
        mine = fmaxf(mine, largest());
      }
      atomicMax(most + token, __float_as_int(mine));
      __syncthreads();
      const float s = scale_of(__int_as_float(most[token]));
      if (lane % 4 == 0) scale[token] = s;  // several warps store the same
      by = 1 / s;
    }
    for (int k = 0; k < n; ++k) {
      if (scaled ? n > 1 : k > 0) load(k);
      if (!scaled || n > 1) normalize(k, !scaled);
      store(k, x, by);
    }
    if (!p.around.norm) return;
#pragma unroll
    for (int c = 0; c < tiles; ++c) {
      float s = square[c];
      s += __shfl_xor_sync(0xffffffffu, s, 1);
      s += __shfl_xor_sync(0xffffffffu, s, 2);
      if (lane % 4 == 0) residues[(sub + stride * c) * tokens + token] = s;
    }
  }
};

#endif

}  // namespace ridge::op::smallm
