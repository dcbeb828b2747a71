// Few rows of x (f32) times plain weights: what a decode step is made of, bound by reading the weights.
//
// One block of 16 warps to a multiprocessor. A unit is two rows of the weight (or one of a gate and the one that it
// gates); a team of `split` warps takes units, each warp a part of their columns. Weights come by asynchronous copies
// into a ring of stages in shared memory, of which each lane reads what it sent for itself: nobody waits for anybody,
// and the first stages are on their way before the wait for the kernel before it.
//
// Every result is summed in one order: a lane's own columns, then over the lanes by halves, then over the parts.
#include <algorithm>
#include <bit>

#include "cuda/launch.cuh"
#include "cuda/shared_memory.h"
#include "op/device_matrix.h"
#include "op/linear/matvec_plain.cuh"

namespace ridge::op {
namespace {

using namespace matvec;

constexpr int warps = 16, threads = 32 * warps, unit_rows = 2;
constexpr int piece = 512, stage_bytes = unit_rows * piece;  // bytes of a row that a warp loads at once
constexpr int static_bytes = 4 << 10;                        // at most, for sums

struct Product {
  Segment segment[most_segments];
  const float* x;
  Around around;
  int segments, units;
  int tokens, columns, row_bytes;
  int chunks, part_chunks;  // of 512 bytes: of a row, and of a warp's part of it
  int split;
};

// Row `r` of a unit.
__device__ __forceinline__ const std::byte* row_of(const Product& p, int unit, int r) {
  if (p.around.gates) return p.segment[r].weight + std::int64_t(unit) * p.row_bytes;
  const Segment& s = p.segment[segment_of(p, unit)];
  return s.weight + std::int64_t(min((unit - s.first) * unit_rows + r, s.rows - 1)) * p.row_bytes;
}

// What a lane sends for: vector after vector of this warp's part of the two rows of each of its units. It reads what it
// sent for itself, so that nobody need wait for anybody.
struct Sender {
  const std::byte* row[unit_rows];
  int unit, at;  // at: byte of the row

  int last;  // the end of the block's units

  __device__ Sender(const Product& p, int first, int end, int begin) : unit(first), at(begin), last(end) { find(p); }
  __device__ void find(const Product& p) {
    if (unit >= last) return;
#pragma unroll
    for (int r = 0; r < unit_rows; ++r) row[r] = row_of(p, unit, r);
  }
  __device__ void send(const Product& p, int begin, int end, int stride, std::byte* stage) {
    if (unit < last) {
      // Beyond the end of a row: its last vector, times the zeros that x has there.
      const int vector = min(at + int(threadIdx.x % 32) * 16, p.row_bytes - 16);
#pragma unroll
      for (int r = 0; r < unit_rows; ++r) copy_async(stage + r * piece, row[r] + vector);
      at += piece;
      if (at >= end) {
        at = begin;
        unit += stride;
        find(p);
      }
    }
    end_copies();
  }
};

template <DType type, int T, int stages>
__global__ void __launch_bounds__(threads, 1) multiply(const __grid_constant__ Product p) {
  using W = Weight<type>;
  constexpr int quarters = W::values / 4, results = unit_rows * T, spread = 32 / results;
  constexpr int chunk_x = T * quarters * 32;  // float4s of x to a chunk: [token][quarter][lane]
  extern __shared__ __align__(128) std::byte shared[];
  __shared__ float sums[2][warps][results], squares[T][warps];
  float4* const x = reinterpret_cast<float4*>(shared + warps * stages * stage_bytes);

  const int warp = int(threadIdx.x / 32), lane = int(threadIdx.x % 32);
  const int part = warp % p.split, team = warp / p.split, teams = warps / p.split;
  // A block's units lie together, so that a multiprocessor reads few pages of memory.
  int unit = int(std::int64_t(p.units) * blockIdx.x / gridDim.x) + team;
  const int last = int(std::int64_t(p.units) * (blockIdx.x + 1) / gridDim.x), stride = teams;
  const int begin = min(part * p.part_chunks * 512, p.row_bytes), end = min(begin + p.part_chunks * 512, p.row_bytes);

  // -- before the wait: the ring, the norm's weight, the bias --
  std::byte* const ring = shared + warp * stages * stage_bytes + lane * 16;
  Sender sender(p, begin < end ? unit : last, last, begin);
#pragma unroll
  for (int s = 0; s < stages; ++s) sender.send(p, begin, end, stride, ring + s * stage_bytes);
  cuda::let_next_start();

  // Groups of four columns, in the order of memory; where each lies in x.
  const int groups = p.chunks * 32 * quarters;
  const auto place = [&](int i) {
    const int c = i / (32 * quarters), l = i % (32 * quarters) / quarters, h = i % quarters;
    return c * chunk_x + h * 32 + l;  // of token 0; the others are 32 * quarters apart
  };
  if (p.around.norm) {
    for (int i = int(threadIdx.x); i < groups; i += threads)
      copy_async(x + place(i), i * 4 < p.columns ? p.around.norm + i * 4 : p.around.norm, i * 4 < p.columns);
    end_copies();
  }
  const bool finishes = part == 0 && lane < results;
  const int mine_row = lane / T, mine_token = lane % T;
  const auto segment_row = [&](int u, int& row) -> const Segment& {  // what this lane finishes of a unit
    if (p.around.gates) {
      row = u;
      return p.segment[mine_row];
    }
    const Segment& s = p.segment[segment_of(p, u)];
    row = (u - s.first) * unit_rows + mine_row;
    return s;
  };
  const auto bias_of = [&](int u) {
    if (!finishes || u >= last) return 0.0f;
    int row;
    const Segment& s = segment_row(u, row);
    return s.bias && row < s.rows ? __ldg(s.bias + row) : 0.0f;
  };
  const auto residual_of = [&](int u) {
    if (!p.around.residual || !finishes || u >= last) return 0.0f;
    int row;
    const Segment& s = segment_row(u, row);
    return row < s.rows && mine_token < p.tokens ? p.around.residual[std::int64_t(mine_token) * s.rows + row] : 0.0f;
  };
  float bias = bias_of(unit);
  if (p.around.norm) wait_for_copies<0>();  // each thread's own

  cuda::wait_for_previous();

  // -- x, times the norm's weight, and its squares --
  float residual = residual_of(unit);
  float square[T] = {};
  constexpr int at_once = T >= 4 ? 1 : 4 / T;
  for (int first = int(threadIdx.x); first < groups; first += threads * at_once) {
    float4 v[at_once][T];
#pragma unroll
    for (int j = 0; j < at_once; ++j)
#pragma unroll
      for (int t = 0; t < T; ++t) {
        const int i = first + j * threads;
        const bool there = i * 4 < p.columns && t < p.tokens;
        v[j][t] = there ? __ldcg(reinterpret_cast<const float4*>(p.x + std::int64_t(t) * p.columns) + i) : float4{};
      }
#pragma unroll
    for (int j = 0; j < at_once; ++j) {
      const int i = first + j * threads;
      if (i >= groups) break;
      float4* const to = x + place(i);
      float4 g{1, 1, 1, 1};
      if (p.around.norm) {
        g = *to;
        if (i * 4 < p.columns)
          g.x += p.around.offset, g.y += p.around.offset, g.z += p.around.offset, g.w += p.around.offset;
      }
#pragma unroll
      for (int t = 0; t < T; ++t) {
        const float4 a = v[j][t];
        square[t] = fmaf(a.w, a.w, fmaf(a.z, a.z, fmaf(a.y, a.y, fmaf(a.x, a.x, square[t]))));
        to[t * quarters * 32] = {a.x * g.x, a.y * g.y, a.z * g.z, a.w * g.w};
      }
    }
  }
  if (p.around.norm) {
#pragma unroll
    for (int t = 0; t < T; ++t) {
      const float sum = sum_over_lanes<1>({square[t]});
      if (lane == 0) squares[t][warp] = sum;
    }
  }
  __syncthreads();
  float scale = 1;
  if (p.around.norm && finishes) {
    float sum = 0;
#pragma unroll
    for (int w = 0; w < warps; ++w) sum += squares[mine_token][w];
    scale = rsqrtf(sum / float(p.columns) + p.around.eps);
  }

  // -- the stream --
  float sum[unit_rows][T] = {};
  int stage = 0, turn = 0;
  for (; unit < last; unit += stride) {
    for (int at = begin; at < end; at += piece) {
      wait_for_copies<stages - 1>();
      const std::byte* const w = ring + stage * stage_bytes;
      uint4 v[unit_rows];
#pragma unroll
      for (int r = 0; r < unit_rows; ++r) v[r] = *reinterpret_cast<const uint4*>(w + r * piece);
      const float4* const from = x + at / piece * chunk_x + lane;
#pragma unroll
      for (int h = 0; h < quarters; ++h) {
        float4 f[unit_rows];
#pragma unroll
        for (int r = 0; r < unit_rows; ++r) f[r] = W::four(v[r], h);
#pragma unroll
        for (int t = 0; t < T; ++t) {
          const float4 a = from[(t * quarters + h) * 32];
#pragma unroll
          for (int r = 0; r < unit_rows; ++r)
            sum[r][t] = fmaf(f[r].w, a.w, fmaf(f[r].z, a.z, fmaf(f[r].y, a.y, fmaf(f[r].x, a.x, sum[r][t]))));
        }
      }
      sender.send(p, begin, end, stride, ring + stage * stage_bytes);
      stage = stage + 1 == stages ? 0 : stage + 1;
    }
    float v[results];
#pragma unroll
    for (int i = 0; i < results; ++i) v[i] = sum[i / T][i % T], sum[i / T][i % T] = 0;
    const float mine = sum_over_lanes(v);
    if (lane % spread == 0) sums[turn][warp][lane / spread] = mine;
    if (p.split > 1) asm volatile("bar.sync %0, %1;" ::"r"(team + 1), "r"(32 * p.split) : "memory");
    else __syncwarp();
    if (finishes) {
      float total = sums[turn][warp][lane];
      for (int w = 1; w < p.split; ++w) total += sums[turn][warp + w][lane];
      total = fmaf(total, scale, bias);
      int row;
      const Segment& s = segment_row(unit, row);
      if (p.around.gates) {
        const float up = __shfl_down_sync((1ull << results) - 1, total, T);
        if (mine_row == 0 && mine_token < p.tokens)
          p.around.out[std::int64_t(mine_token) * s.rows + row] = gate(total, p.around.gate) * up;
      } else if (row < s.rows && mine_token < p.tokens) {
        s.out[std::int64_t(mine_token) * s.rows + row] =
            p.around.residual ? fmaf(p.around.scale, total, residual) : total;
      }
    }
    turn ^= 1;  // the other half: this one is still being read
    bias = bias_of(unit + stride);
    residual = residual_of(unit + stride);
  }
}

// As few warps to a row as give most of them work: what is summed over warps waits for the last of them.
int split_of(int units, int chunks, int multiprocessors) {
  int split = 1;
  while (split < warps && 2 * split <= chunks && units * split < 0.6 * warps * multiprocessors) split *= 2;
  return split;
}

int x_bytes(DType type, std::int64_t columns, int tokens) {
  const std::int64_t chunk = 32 * values_of(type);
  return int((columns + chunk - 1) / chunk * chunk) * tokens * int(sizeof(float));
}
// A block asks for more than half of a multiprocessor's shared memory even where it needs less: then no multiprocessor
// gets two blocks of a launch while another gets none, and the weights come evenly.
constexpr int least_shared(int arch) { return cuda::multiprocessor_shared(arch) / 2 + (4 << 10); }
constexpr int ring_bytes(int stages) { return warps * stages * stage_bytes; }

// Long streams want many stages; what a few stages hold leaves room for a block of attention, beside which the weights
// of the product after it come.
constexpr int few = 4, some = 6, many = 10;
int stages_for(int needed, int x, int arch) {
  const int wanted = needed <= few ? few : needed <= 16 ? some : many;
  for (int stages : {many, some})
    if (stages <= wanted && ring_bytes(stages) + x + static_bytes <= cuda::block_shared(arch)) return stages;
  return few;
}

template <DType type, int T> void launch_product(const cuda::Launch& on, const Product& p) {
  const int x = x_bytes(type, p.columns, T);
  const int units = (p.units + on.multiprocessors - 1) / on.multiprocessors, teams = warps / p.split;  // of a block
  const int stages = stages_for((units + teams - 1) / teams * p.part_chunks, x, on.arch);
  const auto kernel = stages == many   ? multiply<type, T, many>
                      : stages == some ? multiply<type, T, some>
                                       : multiply<type, T, few>;
  cuda::launch(on, kernel, dim3(unsigned(std::min(on.multiprocessors, p.units))), threads,
               std::max(ring_bytes(stages) + x, least_shared(on.arch)), p);
}

template <DType type> void launch_type(const cuda::Launch& on, Product p) {
  p.row_bytes = p.columns * info(type).block_bytes;
  p.chunks = (p.row_bytes + 511) / 512;
  p.split = split_of(p.units, p.chunks, on.multiprocessors);
  p.part_chunks = (p.chunks + p.split - 1) / p.split;
  switch (std::bit_ceil(unsigned(p.tokens))) {
    case 1: return launch_product<type, 1>(on, p);
    case 2: return launch_product<type, 2>(on, p);
    case 4: return launch_product<type, 4>(on, p);
    default: return launch_product<type, 8>(on, p);
  }
}

void launch_units(const cuda::Launch& on, DType type, const Product& p) {
  switch (type) {
    case DType::f32: return launch_type<DType::f32>(on, p);
    case DType::f16: return launch_type<DType::f16>(on, p);
    case DType::bf16: return launch_type<DType::bf16>(on, p);
    case DType::f8_e4m3: return launch_type<DType::f8_e4m3>(on, p);
    default: no_weight_type(type);
  }
}

}  // namespace

bool ring_matvec_fits(DType weight, std::int64_t columns, std::int64_t tokens, int arch) {
  const bool has_code = arch >= 80 && tokens > 0 && tokens <= 8 && has_matvec_kernel(weight, columns);
  return has_code && columns <= 1 << 20 &&
         x_bytes(weight, columns, int(std::bit_ceil(unsigned(tokens)))) + ring_bytes(few) + static_bytes <=
             cuda::block_shared(arch);
}

void ring_matvec_cuda(const ir::CudaBound& b, std::span<const View> weights, std::span<const View> biases,
                      const Around& around) {
  const View x = b.in[0];
  Product p{.x = x.as<float>(), .around = around, .tokens = int(x.rows()), .columns = int(x.columns())};
  for (std::size_t s = 0; s < weights.size(); ++s) {
    float* const out = around.gates ? nullptr : b.out[s].as<float>();
    p.segment[p.segments++] = {weights[s].data, biases[s].as<float>(), out, int(weights[s].dim(0)), p.units};
    p.units += int((weights[s].dim(0) + unit_rows - 1) / unit_rows);
  }
  if (around.gates) p.units = int(weights[0].dim(0));
  launch_units(b.on, weights[0].dtype, p);
}

}  // namespace ridge::op
