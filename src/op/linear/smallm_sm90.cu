// Some rows of x (up to 64) times weights of 8 or 16 bits: still bound by reading the weights, but too many products
// for anything but the tensor cores.
//
// A cluster of C blocks takes rows of the weight, and each of its blocks a C-th of their columns: so a block needs a
// C-th of x, which it keeps in shared memory for all the rows it will see. Its warps are `groups` times `parts`: a
// group has up to 32 rows, a part some of the block's columns. Few rows to a cluster want many parts, so that all warps
// work. Rows are dealt out one by one, whatever fits mma: all clusters have as many, and so read as long.
//
// Weights come by asynchronous copies into a ring of stages in shared memory, of which each lane reads what it sent for
// itself: nobody waits for anybody, and the ring is filled before the wait for the kernel before this one.
//
// When a unit of rows has been read, partial sums are sent to the block of the cluster that adds them up in a fixed
// order and finishes the rows, and with the first of them each block's part of the norm: the sums of squares of its
// columns. They are sent by st.async, which a barrier in the receiver's memory counts. Meanwhile the next unit is read.
//
// x is f32 and the tensor cores take halves: x becomes the sum of two (`planes`; an error of 2^-17 or less), or, of
// 17 to 32 rows where there is no room and of more rows always, is rounded to one.
#include <algorithm>
#include <array>

#include "cuda/launch.cuh"
#include "op/device_matrix.h"
#include "op/linear/smallm.cuh"

namespace ridge::op {
namespace {

using namespace smallm;
using matvec::values_of;

constexpr int block_columns = 1024;  // that a block takes at most, while a cluster is of less than 8
constexpr int later = 3;             // steps into the next unit after which the one before is finished
constexpr int most_stages = 8, least_stages = 3;
constexpr int least_parts = 1;  // 2: units of half as many rows, of which more bytes are asked for at a time
constexpr int most_shared = 227 << 10;
// A block asks for more than half of a multiprocessor's shared memory even where it needs less: then no multiprocessor
// gets two blocks of a launch while another gets none, and the weights come evenly.
constexpr int least_shared = 118 << 10;

// How partial sums lie where they are added up: [block and part that they are from][group][tile][row][token].
// Of 16 tokens lane t of four has 2 t, 2 t + 1, 2 t + 8 and 2 t + 9, in this order. Tokens in turns where they are
// many.
template <int tiles> struct Sums {
  static constexpr int turns = tiles == 8 ? 2 : 1, turn_tiles = tiles / turns, tokens = 8 * turn_tiles;
  static constexpr int row = tokens + 4;  // floats: so that rows begin in different banks
  static constexpr int rows = warps * warp_rows, bytes = rows * tokens * int(sizeof(float));
  static __host__ __device__ constexpr int token_of(int quad, int e) {
    return tiles == 1 ? quad * 4 + e : quad / 4 * 16 + e / 2 * 8 + quad % 4 * 2 + e % 2;
  }
  static __host__ __device__ constexpr int slot_of(int token) {
    return tiles == 1 ? token : token / 16 * 16 + token % 8 / 2 * 4 + token % 16 / 8 * 2 + token % 2;
  }
};
constexpr int small_bytes(int tiles) {
  return (8 + 8 + 2) * 8 * tiles * int(sizeof(float)) + int(sizeof(std::uint64_t));
}

template <DType type, int planes, int tiles>
__global__ void __launch_bounds__(threads, tiles < 4 ? 2 : 1) multiply_some(const __grid_constant__ Product p) {
#if __CUDA_ARCH__ >= 900
  using F = Form<type>;
  using S = Sums<tiles>;
  constexpr int tokens = 8 * tiles;
  constexpr bool scaled = F::half == Half::f16;
  extern __shared__ __align__(128) std::byte shared[];
  const int warp = int(threadIdx.x / 32), lane = int(threadIdx.x % 32), g = lane / 4, t = lane % 4;
  const int part = warp % p.parts, group = warp / p.parts, rank = cluster_rank(),
            per = 16 / p.ranks;  // per: rows of a tile that a block finishes

  std::byte* const ring = shared + warp * p.stages * stage_bytes + lane * 16;
  uint4* const x = reinterpret_cast<uint4*>(shared + warps * p.stages * stage_bytes);
  float* const sums =
      reinterpret_cast<float*>(x + p.parts * p.slice * F::eights * planes * tiles * 32);  // before: the norm's weight
  float* const squares = sums + p.sums_floats;   // [block][token, in the order of sums]
  float* const residues = squares + 8 * tokens;  // of this block: [8][token]
  float* const scale = residues + 8 * tokens;    // of each token
  int* const most = reinterpret_cast<int*>(scale + tokens);
  std::uint64_t* const full = reinterpret_cast<std::uint64_t*>(most + tokens);

  // -- before the wait: the norm's weight, the ring --
  Stager<type, planes, tiles> stager(p, rank, sums);
  if (p.around.norm) {
    for (int i = int(threadIdx.x) * 4; i < stager.items * 32; i += threads * 4) {
      const int c = stager.first_column + i;
      matvec::copy_async(reinterpret_cast<float4*>(sums + i), p.around.norm + (c < p.columns ? c : 0), c < p.columns);
    }
  }
  matvec::end_copies();
  const Units units(p);
  const int first_chunk = (rank * p.parts + part) * p.slice;
  Sender sender;
  sender.find(p, units, group);
  for (int s = 0; s < p.stages; ++s) sender.send(p, units, group, first_chunk, ring + s * stage_bytes);
  if (threadIdx.x == 0) {
    cuda::barrier_init(full, 1);
    cuda::barrier_fence_init();
  }
  if (threadIdx.x < tokens) most[threadIdx.x] = 0;
  cuda::let_next_start();
  cuda::wait_for_previous();

  // -- x --
  stager.load(0);
  wait_for_all_but(p.stages);  // the norm's weight has come
  __syncthreads();
  stager.run(x, most, scale, residues);
  __syncthreads();
  cluster_arrive();  // this block's sums may be sent to

  // -- the stream --
  float sum[2][tiles][4] = {};  // of rows g and g + 8 of two tiles of rows
  const auto consume = [&](int step, const std::byte* stage) {
    uint4 w[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) w[j] = *reinterpret_cast<const uint4*>(stage + j * 512);
    const uint4* at = x + (part * p.slice + step) * F::eights * planes * tiles * 32 + lane;
#pragma unroll
    for (int u = 0; u < F::eights; ++u) {
      unsigned a[4][4];
#pragma unroll
      for (int j = 0; j < 4; ++j) F::unpack(w[j], u, a[j]);
#pragma unroll
      for (int plane = 0; plane < planes; ++plane) {
        constexpr int at_once = tiles < 4 ? tiles : 4;
#pragma unroll
        for (int first = 0; first < tiles; first += at_once) {
          uint4 b[at_once];
#pragma unroll
          for (int n = 0; n < at_once; ++n) b[n] = at[n * 32];
          at += at_once * 32;
#pragma unroll
          for (int k = 0; k < 2; ++k)
#pragma unroll
            for (int n = 0; n < at_once; ++n)
#pragma unroll
              for (int h = 0; h < 2; ++h)
                mma<F::half>(sum[h][first + n], a[2 * h][2 * k], a[2 * h + 1][2 * k], a[2 * h][2 * k + 1],
                             a[2 * h + 1][2 * k + 1], k ? b[n].z : b[n].x, k ? b[n].w : b[n].y);
        }
      }
    }
  };

  int turn = 0;  // how often sums were sent
  const auto send_sums = [&](int half) {
    cluster_wait();  // they may be sent: what they are to be written over has been read
    const bool with_squares = p.around.norm && turn == 0;
    if (threadIdx.x == 0)
      cuda::barrier_expect(full, unsigned(S::bytes + (with_squares ? p.ranks * tokens * int(sizeof(float)) : 0)));
    if (with_squares)
      for (int i = int(threadIdx.x); i < p.ranks * tokens; i += threads) {
        const int to = i / tokens, token = i % tokens;
        const float* r = residues + token;
        const float s = ((r[0] + r[tokens]) + (r[2 * tokens] + r[3 * tokens])) +
                        ((r[4 * tokens] + r[5 * tokens]) + (r[6 * tokens] + r[7 * tokens]));
        send(place_in(to, squares + rank * tokens + S::slot_of(token)), s, place_in(to, full));
      }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int h = j / 2, q = j % 2 * 8 + g, to = q / per;
      const unsigned place =
          place_in(to, sums + ((((rank * p.parts + part) * p.groups + group) * 2 + h) * per + q % per) * S::row);
      const unsigned count = place_in(to, full);
      float v[S::turn_tiles][2];
#pragma unroll
      for (int n = 0; n < S::turn_tiles; ++n) {
        float(&of)[4] = sum[h][half * S::turn_tiles + n];
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          v[n][e] = of[j % 2 * 2 + e];
          if constexpr (scaled) v[n][e] *= scale[(half * S::turn_tiles + n) * 8 + 2 * t + e];
          of[j % 2 * 2 + e] = 0;
        }
      }
      if constexpr (tiles == 1) {
        send(place + t * 8, v[0][0], v[0][1], count);
      } else {
#pragma unroll
        for (int n = 0; n < S::turn_tiles; n += 2)
          send(place + n * 32 + t * 16, v[n][0], v[n][1], v[n + 1][0], v[n + 1][1], count);
      }
    }
  };
  // Adds up and finishes this block's rows of a unit, of which both rows of a gate and what it gates lie in one thread.
  const auto finish = [&](int u, int half, bool last) {
    const Unit unit = units.at(p, u);
    const int pairs = p.groups * per, items = pairs * (S::tokens / 4);
    for (int i = int(threadIdx.x), come = 0;; i += threads) {
      const bool any = i < items;
      if (!any && come) break;
      const int pair = i % pairs, quad = i / pairs, of_group = pair / per;
      const auto token_of = [&](int e) { return half * S::tokens + S::token_of(quad, e); };
      float* out[2] = {};
      float bias[2] = {}, residual[2][4] = {};
      int stride = 0;
      std::int64_t at[2] = {};
      if (any) {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const int l = h * 16 + rank * per + pair % per;
          int number = number_of(p, unit, of_group, l);
          if (number < 0) continue;
          const matvec::Segment& s = segment_of(p, l, number);
          if (s.bias) bias[h] = __ldg(s.bias + number);
          out[h] = p.around.gates ? p.around.out : s.out;
          stride = s.rows, at[h] = number;
          if (p.around.residual)  // one segment
#pragma unroll
            for (int e = 0; e < 4; ++e)
              if (token_of(e) < p.tokens)
                residual[h][e] = __ldcg(p.around.residual + std::int64_t(token_of(e)) * stride + number);
        }
      }
      if (!come) cuda::barrier_wait(full, unsigned(turn & 1)), come = 1;
      if (!any) break;
      float total[2][4] = {};
      const float* from = sums + (of_group * 2 * per + pair % per) * S::row + quad * 4;
#pragma unroll 4
      for (int c = 0; c < p.ranks * p.parts; ++c, from += p.groups * 2 * per * S::row) {
        const float4 a = *reinterpret_cast<const float4*>(from),
                     b = *reinterpret_cast<const float4*>(from + per * S::row);
        total[0][0] += a.x, total[0][1] += a.y, total[0][2] += a.z, total[0][3] += a.w;
        total[1][0] += b.x, total[1][1] += b.y, total[1][2] += b.z, total[1][3] += b.w;
      }
      float by[4] = {1, 1, 1, 1};
      if (p.around.norm) {
        float all[4] = {};
        for (int c = 0; c < p.ranks; ++c) {
          const float4 s = *reinterpret_cast<const float4*>(squares + c * tokens + half * S::tokens + quad * 4);
          all[0] += s.x, all[1] += s.y, all[2] += s.z, all[3] += s.w;
        }
#pragma unroll
        for (int e = 0; e < 4; ++e) by[e] = rsqrtf(all[e] / float(p.columns) + p.around.eps);
      }
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const std::int64_t row = std::int64_t(token_of(e)) * stride;
        if (token_of(e) >= p.tokens) continue;
        const float a = fmaf(total[0][e], by[e], bias[0]), b = fmaf(total[1][e], by[e], bias[1]);
        if (p.around.gates) {
          if (out[0]) out[0][row + at[0]] = matvec::gate(a, p.around.gate) * b;
        } else {
          if (out[0]) out[0][row + at[0]] = p.around.residual ? fmaf(p.around.scale, a, residual[0][e]) : a;
          if (out[1]) out[1][row + at[1]] = p.around.residual ? fmaf(p.around.scale, b, residual[1][e]) : b;
        }
      }
    }
    ++turn;
    if (!last) cluster_arrive();
  };

  const int finish_step = min(later, p.slice - 1);
  bool pending = false;
  for (int unit = 0, step = 0, stage = 0;;) {
    if (unit < units.count) {
      wait_for_all_but(p.stages - 1);
      consume(step, ring + stage * stage_bytes);
      sender.send(p, units, group, first_chunk, ring + stage * stage_bytes);
      stage = stage + 1 == p.stages ? 0 : stage + 1;
    }
    if (pending && (step == finish_step || unit == units.count)) {
      finish(unit - 1, S::turns - 1, unit == units.count);
      pending = false;
    }
    if (unit == units.count) break;
    if (++step < p.slice) continue;
    step = 0;
#pragma unroll
    for (int half = 0; half < S::turns; ++half) {
      send_sums(half);
      if (half + 1 < S::turns) finish(unit, half, false);
    }
    pending = true;
    ++unit;
  }
  // All that was sent here has come; so a block may leave.
#endif
}

// To a cluster; at least two, for what is sent within one of a single block is no store that compute-sanitizer knows.
int blocks_of(std::int64_t columns) { return columns <= 2 * block_columns ? 2 : columns <= 4 * block_columns ? 4 : 8; }
int tiles_of(std::int64_t tokens) { return tokens <= 8 ? 1 : tokens <= 16 ? 2 : tokens <= 32 ? 4 : 8; }
int chunks_of(DType type, std::int64_t columns) {  // of a block
  const std::int64_t columns_of_chunk = 4 * values_of(type),
                     chunks = (columns + columns_of_chunk - 1) / columns_of_chunk;
  return int((chunks + blocks_of(columns) - 1) / blocks_of(columns));
}
int sums_floats(DType type, int chunks,
                int tiles) {  // of a block with so many chunks: the norm's weight lies there before
  return std::max(warps * warp_rows * (8 * std::min(tiles, 4) + 4), chunks * 4 * values_of(type));
}
std::int64_t shared_bytes(DType type, int chunks, int tiles, int planes, int stages) {
  const std::int64_t x = std::int64_t(chunks) * planes * tiles * values_of(type) / 8 * 512;
  return x + std::int64_t(warps) * stages * stage_bytes +
         std::int64_t(sums_floats(type, chunks, tiles)) * int(sizeof(float)) + small_bytes(tiles);
}
int planes_of(DType type, std::int64_t columns, std::int64_t tokens) {  // 0: it does not fit
  if (columns > 1 << 20) return 0;
  const int tiles = tiles_of(tokens),
            chunks = (chunks_of(type, columns) + warps - 1) / warps * warps;  // however many parts
  const auto fits = [&](int planes) { return shared_bytes(type, chunks, tiles, planes, least_stages) <= most_shared; };
  if (tiles < 8 && fits(2)) return 2;
  return tiles >= 4 && fits(1) ? 1 : 0;
}

struct Attributes {
  cudaLaunchAttribute list[2] = {};
  cudaLaunchConfig_t config{};
  Attributes(int blocks, int cluster, int shared) {
    list[0].id = cudaLaunchAttributeClusterDimension;
    list[0].val.clusterDim = {unsigned(cluster), 1, 1};
    list[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    list[1].val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = dim3(unsigned(blocks)), config.blockDim = dim3(threads),
    config.dynamicSmemBytes = std::size_t(shared);
    config.attrs = list, config.numAttrs = 1;
  }
  Attributes(const Attributes&) = delete;
};
void prepare(const void* kernel) {
  cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most_shared),
              "asking for shared memory");
  cuda::check(
      cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared),
      "dividing shared memory from L1");
}

// How many clusters of so many blocks run at once, a block to a multiprocessor: they need multiprocessors that lie
// together, of which a few are left over.
int clusters_at_once(int blocks) {
  static const std::array<int, 3> counts = [] {
    const void* const kernel =
        reinterpret_cast<const void*>(multiply_some<DType::bf16, 2, 2>);  // all are alike in this
    prepare(kernel);
    std::array<int, 3> n{};  // of clusters of 2, 4 and 8
    for (int i = 0; i < 3; ++i) {
      const Attributes one(2 << i, 2 << i, least_shared);
      cuda::check(cudaOccupancyMaxActiveClusters(&n[std::size_t(i)], kernel, &one.config),
                  "asking how many clusters run at once");
    }
    return n;
  }();
  return std::max(1, counts[std::size_t(blocks == 2 ? 0 : blocks == 4 ? 1 : 2)]);
}

template <DType type, int planes, int tiles> void launch_kernel(const cuda::Launch& on, Product p, int clusters) {
  const int chunks = p.parts * p.slice, most = p.groups * (p.around.gates ? warp_rows / 2 : warp_rows);
  const int rows = (p.rows + clusters - 1) / clusters, steps = (rows + most - 1) / most * p.slice;
  // As many stages as there is room for, and no more than are filled.
  p.stages = std::clamp(steps, least_stages, most_stages);
  while (p.stages > least_stages && shared_bytes(type, chunks, tiles, planes, p.stages) > most_shared) --p.stages;
  p.sums_floats = sums_floats(type, chunks, tiles);
  Attributes all(clusters * p.ranks, p.ranks,
                 std::max(least_shared, int(shared_bytes(type, chunks, tiles, planes, p.stages))));
  all.config.stream = on.stream;
  all.config.numAttrs = on.dependent ? 2 : 1;
  auto* const kernel = multiply_some<type, planes, tiles>;
  prepare(reinterpret_cast<const void*>(kernel));
  cuda::check(cudaLaunchKernelEx(&all.config, kernel, p), "launching a kernel");
}

template <DType type> void launch_type(const cuda::Launch& on, Product p) {
  const int tiles = tiles_of(p.tokens), planes = planes_of(type, p.columns, p.tokens);
  p.vectors = p.columns / values_of(type);
  p.ranks = blocks_of(p.columns);
  // What the sums' order depends on, `ranks` and `parts`, does not follow from the number of tokens.
  const int rows = p.around.gates ? 2 * p.rows : p.rows, clusters = std::min(clusters_at_once(p.ranks), (rows + 7) / 8);
  p.parts = warps;
  while (p.parts > least_parts && std::int64_t(warps / p.parts) * warp_rows * clusters < rows) p.parts /= 2;
  p.groups = warps / p.parts;
  p.slice = (chunks_of(type, p.columns) + p.parts - 1) / p.parts;
  if (tiles == 1) launch_kernel<type, 2, 1>(on, p, clusters);
  else if (tiles == 2) launch_kernel<type, 2, 2>(on, p, clusters);
  else if (tiles == 4 && planes == 2) launch_kernel<type, 2, 4>(on, p, clusters);
  else if (tiles == 4) launch_kernel<type, 1, 4>(on, p, clusters);
  else launch_kernel<type, 1, 8>(on, p, clusters);
}

void launch_rows(const cuda::Launch& on, DType type, const Product& p) {
  if (p.rows == 0 || p.tokens == 0) return;
  switch (type) {
    case DType::f16: return launch_type<DType::f16>(on, p);
    case DType::bf16: return launch_type<DType::bf16>(on, p);
    case DType::f8_e4m3: return launch_type<DType::f8_e4m3>(on, p);
    default: no_weight_type(type);
  }
}

void add_segment(Product& p, const View& weight, const View& bias, float* out) {
  p.segment[p.segments++] = {weight.data, bias.as<float>(), out, int(weight.dim(0)), p.rows};
  p.rows += int(weight.dim(0));
}

}  // namespace

int small_planes(DType weight, std::int64_t columns, std::int64_t tokens, int arch) {
  const bool halves = weight == DType::f16 || weight == DType::bf16 || weight == DType::f8_e4m3;
  if (!halves || arch < 90 || arch >= 120 || tokens > small_most_tokens || !has_matvec_kernel(weight, columns))
    return 0;
  return planes_of(weight, columns, tokens);
}

void linear_small_cuda(const ir::CudaBound& b) {
  const View x = b.in[0];
  for (DType type : {DType::f16, DType::bf16, DType::f8_e4m3}) {  // a launch for each type that is there
    const Product none{.x = x.as<float>(), .tokens = int(x.rows()), .columns = int(x.columns())};
    Product p = none;
    for (std::size_t s = 0; s < b.out.size(); ++s) {
      if (b.in[1 + s].dtype != type || b.in[1 + s].dim(0) == 0) continue;
      add_segment(p, b.in[1 + s], b.in[1 + b.out.size() + s], b.out[s].as<float>());
      if (p.segments == matvec::most_segments) launch_rows(b.on, type, p), p = none;
    }
    launch_rows(b.on, type, p);
  }
}

bool fused_small_fits(DType weight, std::int64_t columns, std::int64_t tokens, int arch) {
  return tokens > 0 && small_planes(weight, columns, tokens, arch) > 0;
}

void fused_small_cuda(const ir::CudaBound& b, std::span<const View> weights, std::span<const View> biases,
                      const Around& around) {
  const View x = b.in[0];
  Product p{.x = x.as<float>(), .around = around, .tokens = int(x.rows()), .columns = int(x.columns())};
  for (std::size_t s = 0; s < weights.size(); ++s)
    add_segment(p, weights[s], biases[s], around.gates ? nullptr : b.out[s].as<float>());
  if (around.gates) p.rows = int(weights[0].dim(0));
  launch_rows(b.on, weights[0].dtype, p);
}

}  // namespace ridge::op
