// Few rows of x (f32) times plain weights, where x is too long to lie in shared memory beside the ring of
// matvec_ring_sm80.cu. Bound by reading the weights, too.
//
// One block of 16 warps to a multiprocessor; four warps are a team, and a team takes four rows of the weight at a time,
// dealt out over the grid so that all multiprocessors end together. A row is cut into chunks of 32 vectors of 16 bytes,
// a vector to a lane; warp p of a team takes chunks p, p + 4, ... of all four rows, so that what it reads of x serves
// four rows. Four rows' chunks of one warp are a quad: the unit of loading. Each warp keeps `depth` quads on their way,
// across the ends of rows, and sends for the first ones before it waits for the kernel before it.
//
// x lies in shared memory, arranged so that lanes read it without bank conflicts; where it is too long, in slabs that
// all teams walk through together.
//
// Every result is summed in one order: a lane's own columns, then over the lanes by halves, then over the four warps.
// It depends on the number of columns only.
#include <algorithm>
#include <bit>

#include "cuda/launch.cuh"
#include "cuda/warp.cuh"
#include "op/device_matrix.h"
#include "op/linear/cuda_kernels.h"
#include "op/linear/matvec_plain.cuh"

namespace ridge::op {
namespace {

using namespace matvec;

constexpr int team_warps = 4, teams = 4, threads = 32 * team_warps * teams, rows_at_once = 4;
constexpr int depth = 2;           // quads on their way
constexpr int ahead_bytes = 4096;  // of each warp's next row: asked into L2 before the wait (0: none)
struct Product {
  Segment segment[most_segments];
  const float* x;
  Around around;
  int segments, groups;          // groups of four rows
  int tokens, columns, vectors;  // vectors of a row
  int quads, slab_quads;         // to a row, and to a slab of x
};

__device__ __forceinline__ void team_barrier(int team) {
  asm volatile("bar.sync %0, %1;" ::"r"(team + 1), "n"(32 * team_warps) : "memory");
}

// Where a warp's next quad comes from.
template <DType type> struct Source {
  int group, quad = 0;
  const std::byte* row[rows_at_once];

  __device__ Source(const Product& p, int first) : group(first) {
    if (group < p.groups) find(p);
  }
  __device__ void find(const Product& p) {
    if (p.around.gates) {  // two rows of the gate, and the two that they gate
      for (int i = 0; i < rows_at_once; ++i) {
        const Segment& s = p.segment[i / 2];
        row[i] = s.weight + std::int64_t(min(2 * group + i % 2, s.rows - 1)) * p.vectors * 16;
      }
      return;
    }
    const Segment& s = p.segment[segment_of(p, group)];
    const int r = (group - s.first) * rows_at_once;
    for (int i = 0; i < rows_at_once; ++i)  // beyond the last row: the last again, whose results are not stored
      row[i] = s.weight + std::int64_t(min(r + i, s.rows - 1)) * p.vectors * 16;
  }
  __device__ void load(const Product& p, int part, int stride, uint4 (&w)[rows_at_once]) {
    if (group >= p.groups) return;
    // Beyond the end of a row: its last vector, times the zeros that x has there.
    const int vector = min((quad * team_warps + part) * 32 + int(threadIdx.x % 32), p.vectors - 1);
#pragma unroll
    for (int i = 0; i < rows_at_once; ++i) w[i] = stream16(row[i] + std::int64_t(vector) * 16);
    if (++quad < p.quads) return;
    quad = 0;
    group += stride;
    if (group < p.groups) find(p);
  }
  // Row `part` of what follows.
  __device__ void ask_ahead(const Product& p, int part, int stride) const {
    Source next = *this;
    int at = next.quad * team_warps * 512;
    for (int left = ahead_bytes; left > 0 && next.group < p.groups; at = 0) {
      const int bytes = min(left, p.vectors * 16 - at);
      ask_into_l2((part < 2    ? part == 0 ? next.row[0] : next.row[1]
                      : part == 2 ? next.row[2]
                               : next.row[3]) +
                      at,
                  bytes);
      left -= bytes;
      next.group += stride;
      if (next.group < p.groups) next.find(p);
    }
  }
};

// Slab `slab` of x into shared memory: [chunk][token][quarter of the vector][lane], four values each.
template <int T, int values> __device__ __forceinline__ void stage_x(const Product& p, int slab, float4* to) {
  constexpr int quarters = values / 4, chunk = 32 * quarters;  // in units of four values
  const int first = slab * p.slab_quads * team_warps * chunk;
  const int count = min(p.slab_quads, p.quads - slab * p.slab_quads) * team_warps * chunk;
#pragma unroll
  for (int t = 0; t < T; ++t)
    for (int i = int(threadIdx.x); i < count; i += threads) {
      const int c = i / chunk, lane = i % chunk / quarters, h = i % quarters;
      const bool there = t < p.tokens && (first + i) * 4 < p.columns;
      copy_async(to + ((c * T + t) * quarters + h) * 32 + lane,
                 there ? p.x + std::int64_t(t) * p.columns + (first + i) * 4 : p.x, there);
    }
  end_copies();
}

// The norm's weight (plus its offset) into shared memory, in the order of a row of x there.
template <int values> __device__ __forceinline__ void stage_norm(const Product& p, float4* to) {
  constexpr int quarters = values / 4, chunk = 32 * quarters;
  for (int i = int(threadIdx.x); i < p.quads * team_warps * chunk; i += threads) {
    const int c = i / chunk, lane = i % chunk / quarters, h = i % quarters;
    const bool there = i * 4 < p.columns;
    copy_async(to + (c * quarters + h) * 32 + lane, there ? p.around.norm + i * 4 : p.around.norm, there);
  }
  end_copies();
}

// Multiplies x by the norm's weight where it lies, and finds what the results are to be multiplied by. In one order for
// each row, whatever rows are beside it.
template <int T, int values>
__device__ __forceinline__ void normalize(const Product& p, float4* x, const float4* norm, float (&scales)[T]) {
  constexpr int piece = values / 4 * 32;
  __shared__ float reduce[32];
  const float offset = p.around.offset;
#pragma unroll
  for (int t = 0; t < T; ++t) {
    float squares = 0;
    for (int i = int(threadIdx.x); i < p.quads * team_warps * piece; i += threads) {
      float4& a = x[(i / piece * T + t) * piece + i % piece];
      const float4 v = a, w = norm[i];
      squares = fmaf(v.w, v.w, fmaf(v.z, v.z, fmaf(v.y, v.y, fmaf(v.x, v.x, squares))));
      a = {v.x * (w.x + offset), v.y * (w.y + offset), v.z * (w.z + offset), v.w * (w.w + offset)};
    }
    const float sum = cuda::block_sum(squares, reduce);
    if (threadIdx.x == 0) scales[t] = rsqrtf(sum / float(p.columns) + p.around.eps);
  }
  __syncthreads();
}

template <DType type, int T, bool slabs>
__global__ void __launch_bounds__(threads, 1) multiply(const __grid_constant__ Product p) {
  using W = Weight<type>;
  constexpr int quarters = W::values / 4, quad_x = team_warps * T * quarters * 32;  // float4s of x to a quad
  constexpr int results = rows_at_once * T, spread = 32 / results;
  extern __shared__ float4 x_shared[];
  __shared__ float sums[2][teams][team_warps][results];
  __shared__ float scales[T];  // of the norm: what each row's results are multiplied by

  const int warp = int(threadIdx.x / 32), lane = int(threadIdx.x % 32), team = warp / team_warps,
            part = warp % team_warps;
  const int stride = teams * int(gridDim.x);
  int group = team * int(gridDim.x) + int(blockIdx.x);

  Source<type> source(p, group);
  uint4 w[depth][rows_at_once] = {};
#pragma unroll
  for (int q = 0; q < depth; ++q) source.load(p, part, stride, w[q]);
  if (lane == 0) source.ask_ahead(p, part, stride);
  const auto bias_of = [&](int g) {  // of the result that this lane will store
    if (part != 0 || lane >= results || g >= p.groups) return 0.0f;
    if (p.around.gates) {
      const Segment& s = p.segment[lane / T / 2];
      return s.bias ? __ldg(s.bias + min(2 * g + lane / T % 2, s.rows - 1)) : 0.0f;
    }
    const Segment& s = p.segment[segment_of(p, g)];
    return s.bias ? __ldg(s.bias + min((g - s.first) * rows_at_once + lane / T, s.rows - 1)) : 0.0f;
  };
  float bias = bias_of(group);
  float4* const norm_shared = x_shared + (slabs ? 2 * p.slab_quads : p.quads) * quad_x;
  if (!slabs && p.around.norm) stage_norm<W::values>(p, norm_shared);  // a weight: it need not wait
  cuda::let_next_start();
  cuda::wait_for_previous();

  // Slabs: `visit` counts those of all rows in turn; visit v is in buffer v % 2, and the one after it on its way.
  const int row_slabs = slabs ? (p.quads + p.slab_quads - 1) / p.slab_quads : 1;
  const int visits = slabs ? (p.groups - int(blockIdx.x) + stride - 1) / stride * row_slabs : 1;
  int visit = 0;
  const auto buffer = [&](int v) { return x_shared + (slabs ? v % 2 * p.slab_quads * quad_x : 0); };
  const auto stage = [&](int v) {
    if (v < visits) stage_x<T, W::values>(p, v % row_slabs, buffer(v));
    else end_copies();
  };
  stage(0);
  if constexpr (slabs) stage(1);
  wait_for_copies<slabs ? 1 : 0>();
  __syncthreads();
  if (!slabs && p.around.norm) normalize<T, W::values>(p, x_shared, norm_shared, scales);
  const auto next_slab = [&] {
    __syncthreads();
    stage(visit + 2);
    ++visit;
    wait_for_copies<1>();
    __syncthreads();
  };

  float sum[rows_at_once][T] = {};
  int quad = 0, slab_quad = 0, turn = 0;
  const auto consume = [&](const uint4(&v)[rows_at_once]) {
    const float4* x = buffer(visit) + (slabs ? slab_quad : quad) * quad_x + part * (T * quarters * 32) + lane;
#pragma unroll
    for (int h = 0; h < quarters; ++h) {
      float4 f[rows_at_once];
#pragma unroll
      for (int r = 0; r < rows_at_once; ++r) f[r] = W::four(v[r], h);
#pragma unroll
      for (int t = 0; t < T; ++t) {
        const float4 a = x[(t * quarters + h) * 32];
#pragma unroll
        for (int r = 0; r < rows_at_once; ++r)
          sum[r][t] = fmaf(f[r].w, a.w, fmaf(f[r].z, a.z, fmaf(f[r].y, a.y, fmaf(f[r].x, a.x, sum[r][t]))));
      }
    }
  };
  const auto finish = [&] {
    float v[results];
#pragma unroll
    for (int i = 0; i < results; ++i) v[i] = sum[i / T][i % T], sum[i / T][i % T] = 0;
    const float mine = sum_over_lanes(v);
    if (lane % spread == 0) sums[turn][team][part][lane / spread] = mine;
    team_barrier(team);
    if (part == 0 && lane < results) {
      const float(&of)[team_warps][results] = sums[turn][team];
      const int t = lane % T;
      float total = (of[0][lane] + of[1][lane]) + (of[2][lane] + of[3][lane]);
      if (!slabs && p.around.norm) total *= scales[t];
      total += bias;
      if (p.around.gates) {
        const float up = __shfl_down_sync((1ull << results) - 1, total, results / 2);
        const int row = 2 * group + lane / T;
        if (lane < results / 2 && row < p.segment[0].rows && t < p.tokens)
          p.around.out[std::int64_t(t) * p.segment[0].rows + row] = gate(total, p.around.gate) * up;
      } else {
        const Segment& s = p.segment[segment_of(p, group)];
        const int row = (group - s.first) * rows_at_once + lane / T;
        if (row < s.rows && t < p.tokens) {
          const std::int64_t at = std::int64_t(t) * s.rows + row;
          s.out[at] = p.around.residual ? fmaf(p.around.scale, total, p.around.residual[at]) : total;
        }
      }
    }
    turn ^= 1;  // the other half: this one is still being read
    group += stride;
    bias = bias_of(group);
  };

  while (group < p.groups) {
#pragma unroll
    for (int q = 0; q < depth; ++q) {
      consume(w[q]);
      source.load(p, part, stride, w[q]);
      const bool end = ++quad == p.quads;
      if (end) quad = 0, finish();
      if constexpr (slabs) {
        if (++slab_quad == p.slab_quads || end) slab_quad = 0, next_slab();
      }
      if (group >= p.groups) break;
    }
  }
  if constexpr (slabs) {
    while (visit < visits) next_slab();  // for the others of the block
  }
}

// Shared memory that a block may ask for, less than half of what there is where much is: the rest is L1, through which
// the weights come.
int shared_limit(int arch) {
  switch (arch) {
    case 75: return 56 << 10;
    case 86:
    case 89:
    case 120:
    case 121: return 88 << 10;
    default: return arch >= 80 ? 128 << 10 : 40 << 10;
  }
}

constexpr int quad_bytes(int values, int tokens) {
  return team_warps * 32 * values * tokens * int(sizeof(float));
}  // of x

// With 16 values to a vector, slabs of 8 rows of x take too many registers.
constexpr bool has_slabs(int values, int tokens) { return tokens > 1 && values * tokens < 128; }

template <DType type, int T> void launch_product(const cuda::Launch& on, Product& p) {
  constexpr int values = Weight<type>::values, bytes = quad_bytes(values, T);
  const int limit = shared_limit(on.arch);
  const dim3 grid(unsigned(std::min(on.multiprocessors, p.groups)));
  if (std::int64_t(p.quads) * bytes <= limit) {
    p.slab_quads = p.quads;
    cuda::launch(on, multiply<type, T, false>, grid, threads, p.quads * (bytes + (p.around.norm ? bytes / T : 0)), p);
  } else if constexpr (has_slabs(values, T)) {
    if (2 * bytes > limit) cuda::check(cudaErrorInvalidConfiguration, "linear: x does not fit into shared memory");
    p.slab_quads = limit / 2 / bytes;
    cuda::launch(on, multiply<type, T, true>, grid, threads, 2 * p.slab_quads * bytes, p);
  } else {
    launch_product<type, 2>(on, p);  // T is 1, or it would not have been chosen
  }
}

// How many rows of x one pass over the weights takes at most.
int most_at_once(const cuda::Launch& on, DType type, int quads) {
  const int values = values_of(type), limit = shared_limit(on.arch);
  const auto fits = [&](int n) {
    return std::int64_t(quads) * quad_bytes(values, n) <= limit ||
           (has_slabs(values, n) && 2 * quad_bytes(values, n) <= limit);
  };
  int n = 8;
  while (n > 2 && !fits(n)) n /= 2;
  return n;
}

template <DType type> void launch_all(const cuda::Launch& on, Product p, std::int64_t tokens) {
  const int most = most_at_once(on, type, p.quads);
  for (std::int64_t first = 0; first < tokens; first += most) {
    p.tokens = int(std::min<std::int64_t>(most, tokens - first));
    switch (std::bit_ceil(unsigned(p.tokens))) {
      case 1: launch_product<type, 1>(on, p); break;
      case 2: launch_product<type, 2>(on, p); break;
      case 4: launch_product<type, 4>(on, p); break;
      default: launch_product<type, 8>(on, p); break;
    }
    p.x += std::int64_t(p.tokens) * p.columns;
    for (int s = 0; s < p.segments && !p.around.gates; ++s)
      p.segment[s].out += std::int64_t(p.tokens) * p.segment[s].rows;
    if (p.around.residual) p.around.residual += std::int64_t(p.tokens) * p.segment[0].rows;
    if (p.around.gates) p.around.out += std::int64_t(p.tokens) * p.segment[0].rows;
  }
}

void launch_type(const cuda::Launch& on, DType type, const Product& p, std::int64_t tokens) {
  switch (type) {
    case DType::f32: return launch_all<DType::f32>(on, p, tokens);
    case DType::f16: return launch_all<DType::f16>(on, p, tokens);
    case DType::bf16: return launch_all<DType::bf16>(on, p, tokens);
    case DType::f8_e4m3: return launch_all<DType::f8_e4m3>(on, p, tokens);
    default: no_weight_type(type);
  }
}

}  // namespace

bool has_matvec_kernel(DType weight, std::int64_t columns) {
  const bool plain = weight == DType::f32 || weight == DType::f16 || weight == DType::bf16 || weight == DType::f8_e4m3;
  return plain && columns > 0 && columns * info(weight).block_bytes % 16 == 0;
}

bool fused_matvec_fits(DType weight, std::int64_t columns, std::int64_t tokens, int arch) {
  if (arch < 80 || !has_matvec_kernel(weight, columns) || tokens > 8) return false;
  const int vectors = int(columns / values_of(weight)), quads = (vectors + 127) / 128, values = values_of(weight);
  const int more = arch == 80 || arch == 90 || arch == 100
                       ? 32 << 10
                       : 0;  // for the norm, where a multiprocessor has 164 KB and more
  return std::int64_t(quads) * (quad_bytes(values, int(std::bit_ceil(unsigned(tokens)))) + quad_bytes(values, 1)) <=
         shared_limit(arch) + more;
}

void fused_matvec_cuda(const ir::CudaBound& b, std::span<const View> weights, std::span<const View> biases,
                       const Around& around) {
  const View x = b.in[0];
  const DType type = weights[0].dtype;
  const int vectors = int(x.columns() / values_of(type));
  Product p{.x = x.as<float>(),
            .around = around,
            .columns = int(x.columns()),
            .vectors = vectors,
            .quads = (vectors + 127) / 128};
  for (std::size_t s = 0; s < weights.size(); ++s) {
    float* const out = around.gates ? nullptr : b.out[s].as<float>();
    p.segment[p.segments++] = {weights[s].data, biases[s].as<float>(), out, int(weights[s].dim(0)), p.groups};
    p.groups += int((weights[s].dim(0) + rows_at_once - 1) / rows_at_once);
  }
  if (around.gates) p.groups = int((weights[0].dim(0) + 1) / 2);
  launch_type(b.on, type, p, x.rows());
}

void linear_matvec_cuda(const ir::CudaBound& b) {
  const View x = b.in[0];
  for (DType type : {DType::f32, DType::f16, DType::bf16, DType::f8_e4m3}) {  // a launch for each type that is there
    const int vectors = int(x.columns() / values_of(type));
    const Product none{
        .x = x.as<float>(), .columns = int(x.columns()), .vectors = vectors, .quads = (vectors + 127) / 128};
    Product p = none;
    for (std::size_t s = 0; s < b.out.size(); ++s) {
      const View weight = b.in[1 + s], bias = b.in[1 + b.out.size() + s];
      if (weight.dtype != type || weight.dim(0) == 0) continue;
      p.segment[p.segments++] = {weight.data, bias.as<float>(), b.out[s].as<float>(), int(weight.dim(0)), p.groups};
      p.groups += int((weight.dim(0) + rows_at_once - 1) / rows_at_once);
      if (p.segments == most_segments) {
        launch_type(b.on, type, p, x.rows());
        p = none;
      }
    }
    if (p.segments > 0) launch_type(b.on, type, p, x.rows());
  }
}

}  // namespace ridge::op
