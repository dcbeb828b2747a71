// One row of activations with block-quantized weights: a decode step of one sequence, bound by reading the weights.
//
// One block of 8 warps to a multiprocessor. `split` warps are a team, and each has the same part of the columns of all
// rows that its team takes, so its columns of x stay in registers. Weights come by bulk copies into a ring of stages in
// shared memory that each warp has for itself: one lane sends for them, one row's part to a stage, and nobody waits for
// another warp until a batch of rows is finished together.
//
// A row is summed in one order, that follows from its length: a lane's columns, the lanes by halves, the parts.
#include "cuda/bulk.cuh"
#include "op/linear/matvec_blocks.cuh"
#include "op/linear/matvec_blocks_ring_formats.cuh"

namespace ridge::op::matvec_blocks {
namespace {

constexpr int ring_warps = 8, ring_threads = 32 * ring_warps, most_stages = 8, rows_at_once = 4;
constexpr int most_dynamic_bytes = 110 << 10;   // that is used: attention fits beside it
constexpr int least_dynamic_bytes = 115 << 10;  // that is asked for: more than half, as in matvec_ring_sm80.cu
constexpr int most_partial_bytes = 12 << 10;
constexpr int ahead = 2;           // rows of each warp beyond its ring that are asked into L2 before the wait
constexpr int let_start_left = 4;  // the next kernel may start when a warp has so many rows left to send for
constexpr int held = 2;            // eights of columns of x that a thread has on their way at once

struct RingSegment {
  const std::byte* plane[4];
  const float* bias;
  float* out;
  int first, end;  // its rows among those of the launch
};
struct Ring {
  RingSegment segment[most_segments];
  const void* x;
  Around around;
  bool fused;
  int segments, rows, columns;      // rows: of all segments; of gates: of one
  int units, split, teams, stages;  // units: of a row
  int part_units, more_units;       // the parts' units: of the first more_units parts one more
  int block_rows, more_rows;        // the blocks' rows, likewise
  unsigned team_of;                 // four bits for each warp
  int batch;                        // rows that are finished together
};

// Rows of the launch that a block has, and how it numbers them: of gates, first the gate's, then those that they gate.
struct Rows {
  int first, count;  // count: of gates, of one of the two
  __device__ __forceinline__ explicit Rows(const Ring& p)
      : first(int(blockIdx.x) * p.block_rows + min(int(blockIdx.x), p.more_rows)),
        count(p.block_rows + (int(blockIdx.x) < p.more_rows)) {}
  __device__ __forceinline__ int numbers(const Ring& p) const { return p.around.gates ? 2 * count : count; }
};
struct Where {
  int segment, row, end;  // end: the number after the segment's last
};
__device__ __forceinline__ Where find(const Ring& p, const Rows& rows, int number) {
  if (p.around.gates) {
    const bool second = number >= rows.count;
    return {second, rows.first + number - (second ? rows.count : 0), second ? 2 * rows.count : rows.count};
  }
  int s = 0;
  while (s + 1 < p.segments && rows.first + number >= p.segment[s].end) ++s;
  return {s, rows.first + number - p.segment[s].first, p.segment[s].end - rows.first};
}

#if __CUDA_ARCH__ >= 900

__device__ __forceinline__ bool one_lane() {  // true in one of the warp's
  unsigned elected;
  asm volatile("{\n.reg .pred one;\nelect.sync _|one, 0xffffffff;\nselp.u32 %0, 1, 0, one;\n}" : "=r"(elected));
  return elected;
}

// The rows that a warp sends for, in turn. All lanes count; one issues the copies.
template <class F, int chunks> struct Sender {
  const Ring& p;
  const Rows& rows;
  int begin, count;  // the part's units
  int number, end;   // of the next row; the number after its segment's last
  const std::byte* at[F::planes];
  std::uint64_t policy;

  __device__ __forceinline__ Sender(const Ring& ring, const Rows& of, int from, int units, int first)
      : p(ring), rows(of), begin(from), count(units), number(first), policy(cuda::evict_first()) {
    look();
  }
  __device__ __forceinline__ void look() {
    const Where w = find(p, rows, number);
    end = w.end;
#pragma unroll
    for (int i = 0; i < F::planes; ++i)
      at[i] = p.segment[w.segment].plane[i] + std::int64_t(w.row) * (p.units * F::unit(i)) + begin * F::unit(i);
  }
  __device__ __forceinline__ void advance(int numbers) {
    number += p.teams;
    if (number < end) {
#pragma unroll
      for (int i = 0; i < F::planes; ++i) at[i] += p.teams * p.units * F::unit(i);
    } else if (number < numbers) {
      look();
    }
  }
  // Copies begin and end at multiples of 16.
  __device__ __forceinline__ static constexpr bool shifts(int i) { return F::shifts && i == F::planes - 1; }
  __device__ __forceinline__ int shift(int i) const {
    return shifts(i) ? int(reinterpret_cast<std::uintptr_t>(at[i]) % 16) : 0;
  }
  __device__ __forceinline__ unsigned bytes(int i) const {
    return unsigned(shifts(i) ? (count * F::unit(i) + shift(i) + 15) / 16 * 16 : count * F::unit(i));
  }
  __device__ __forceinline__ void send(std::byte* stage, std::uint64_t* full) const {
    unsigned all = 0;
#pragma unroll
    for (int i = 0; i < F::planes; ++i) all += bytes(i);
    if (one_lane()) {
      if constexpr (F::shifts) *reinterpret_cast<int*>(stage + shift_at<F>(chunks)) = shift(F::planes - 1);
      cuda::barrier_expect(full, all);
#pragma unroll
      for (int i = 0; i < F::planes; ++i)
        cuda::copy_bulk(stage + plane_at<F>(i, chunks), at[i] - shift(i), bytes(i), full, policy);
    }
  }
  __device__ __forceinline__ void ask() const {
    if (one_lane())
#pragma unroll
      for (int i = 0; i < F::planes; ++i)
        asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(at[i] - shift(i)), "r"(bytes(i)) : "memory");
  }
};

// Eights of columns, `held` to a thread, 256 threads apart. Columns are a multiple of 256: warps have all or none.
struct Eights {
  float4 v[held][2];
  __device__ __forceinline__ static bool has(const Ring& p, int first, int j) {
    return first + j * ring_threads < p.columns / 8;
  }
};
// The norm's weight: it need not wait.
__device__ __forceinline__ void load_norm(const Ring& p, int first, Eights& to) {
#pragma unroll
  for (int j = 0; j < held; ++j)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      to.v[j][half] = {};
      if (!p.around.norm || !Eights::has(p, first, j)) continue;
      const uint4 bits =
          load16(reinterpret_cast<const std::byte*>(p.around.norm + 8 * (first + j * ring_threads) + 4 * half));
      to.v[j][half] = {__uint_as_float(bits.x), __uint_as_float(bits.y), __uint_as_float(bits.z),
                       __uint_as_float(bits.w)};
    }
}
__device__ __forceinline__ void load_x(const Ring& p, int first, Eights& to) {
  const float4* const from = static_cast<const float4*>(p.x) + 2 * first;
#pragma unroll
  for (int j = 0; j < held; ++j)
#pragma unroll
    for (int half = 0; half < 2; ++half)
      to.v[j][half] = Eights::has(p, first, j) ? from[2 * j * ring_threads + half] : float4{};
}

// The row of x: normalized, where there is a norm, and quantized.
__device__ __forceinline__ void stage_floats(const Ring& p, Eights& norm, std::byte* codes, uint2* entries) {
  __shared__ float squares[ring_warps];
  constexpr int step = held * ring_threads;
  const int thread = int(threadIdx.x), lane = thread % 32, eights = p.columns / 8;
  Eights x;
  load_x(p, thread, x);
  float scale = 1;
  if (p.around.norm) {
    const auto squares_of = [](const Eights& e, float sum) {
#pragma unroll
      for (int j = 0; j < held; ++j) sum = add_squares(e.v[j][1], add_squares(e.v[j][0], sum));
      return sum;
    };
    float sum = squares_of(x, 0);
#pragma unroll 1
    for (int first = thread + step; first < eights; first += step) {
      Eights more;
      load_x(p, first, more);
      sum = squares_of(more, sum);
    }
    sum = cuda::warp_sum(sum);
    if (lane == 0) squares[thread / 32] = sum;
    __syncthreads();
    scale = norm_scale(squares, p.columns, p.around.eps);
  }
#pragma unroll 1
  for (int first = thread; first < eights; first += step) {
    Eights next, next_norm;  // on their way
    load_x(p, first + step, next);
    load_norm(p, first + step, next_norm);
#pragma unroll
    for (int j = 0; j < held; ++j) {
      float4 a = x.v[j][0], b = x.v[j][1];
      if (p.around.norm)
        a = normed(a, scale, norm.v[j][0], p.around.offset), b = normed(b, scale, norm.v[j][1], p.around.offset);
      const ActOct q = quantize_oct(a, b);
      if (!Eights::has(p, first, j)) continue;
      const int i = first + j * ring_threads;
      reinterpret_cast<uint2*>(codes)[i] = q.codes;
      if (lane % 4 == 0)
        entries[i / 4] = {__float_as_uint(q.d), (unsigned(q.sum) & 0xffffu) | unsigned(q.other_sum) << 16};
    }
    x = next, norm = next_norm;
  }
}

// The same from int8 blocks.
__device__ __forceinline__ void stage_act(const Ring& p, std::byte* codes, uint2* entries) {
  const unsigned* from = static_cast<const unsigned*>(p.x);
  for (int block = int(threadIdx.x); block < p.columns / 32; block += ring_threads)
    entries[block] = {__ldcg(from + block * act_words), __ldcg(from + block * act_words + 2)};
#pragma unroll 4
  for (int i = int(threadIdx.x); i < p.columns / 4; i += ring_threads)
    reinterpret_cast<unsigned*>(codes)[i] = __ldcg(from + i / 8 * act_words + act_q_word + i % 8);
}

// The results of numbers [begin, end) of the block, from the parts' sums. Of gates these are all.
__device__ __forceinline__ void finish(const Ring& p, const Rows& rows, const float* partial, int begin, int end) {
  const bool gates = p.around.gates;
  const auto total = [&](int number, const float* bias, int row) {
    float sum = 0;
    for (int part = 0; part < p.split; ++part) sum += partial[(number - begin) * p.split + part];
    return bias ? sum + __ldg(bias + row) : sum;
  };
  for (int number = begin + int(threadIdx.x); number < (gates ? rows.count : end); number += ring_threads) {
    const Where at = find(p, rows, number);
    const RingSegment& s = p.segment[at.segment];
    float result = total(number, s.bias, at.row);
    if (gates) result = matvec::gate(result, p.around.gate) * total(number + rows.count, p.segment[1].bias, at.row);
    if (p.around.residual) result = fmaf(p.around.scale, result, p.around.residual[at.row]);
    s.out[at.row] = result;
  }
}

// A warp's lanes with their columns of x.
template <class F, int chunks> struct Lanes {
  typename F::Lane first, second;
  bool active[2];
  __device__ __forceinline__ Lanes(const StagedX& x, int begin, int count)
      : first(lane_of(x, begin, count, 0)),
        second(lane_of(x, begin, count, chunks - 1)),
        active{is_active(count, 0), is_active(count, 1)} {}
  __device__ __forceinline__ static bool is_active(int count, int chunk) {
    return int(threadIdx.x % 32) < count * F::lanes - 32 * chunk;
  }
  __device__ __forceinline__ static typename F::Lane lane_of(const StagedX& x, int begin, int count, int chunk) {
    const int lane = int(threadIdx.x % 32), at = is_active(count, chunk) ? 32 * chunk + lane : lane % F::lanes;
    return {x, lane, begin * 256 + at * (256 / F::lanes)};
  }
  __device__ __forceinline__ float row(const std::byte* stage) const {  // what is no part of the row may be NaN
    float sum = first.row(Stage<F, chunks, 0>{stage});
    sum = active[0] ? sum : 0;
    if constexpr (chunks == 2) {
      const float more = second.row(Stage<F, chunks, 1>{stage});
      sum = active[1] ? sum + more : sum;
    }
    return sum;
  }
};

#endif

template <class F, int chunks>
__global__ void __launch_bounds__(ring_threads, 2) multiply_row(const __grid_constant__ Ring p) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(128) std::byte shared[];
  __shared__ std::uint64_t full[ring_warps][most_stages];
  constexpr int stage_size = stage_bytes<F>(chunks);
  const int lane = int(threadIdx.x % 32),
            warp = __shfl_sync(0xffffffffu, int(threadIdx.x / 32), 0);  // uniform: so are addresses
  const int team = int(p.team_of >> 4 * warp & 15), part = warp - team * p.split;
  const Rows rows(p);
  const int numbers = rows.numbers(p),
            mine = team < p.teams ? (numbers - team + p.teams - 1) / p.teams : 0;  // rows of this warp
  const int begin = part * p.part_units + min(part, p.more_units), count = p.part_units + (part < p.more_units);

  const int ring_bytes = p.stages * stage_size;  // of a warp
  std::byte* const ring = shared + warp * ring_bytes;
  std::byte* const codes = shared + p.split * p.teams * ring_bytes;
  uint2* const entries = reinterpret_cast<uint2*>(codes + p.columns);
  float* const partial = reinterpret_cast<float*>(entries + p.columns / 32);

  // -- before the wait --
  if (lane == 0) {
    for (int s = 0; s < p.stages; ++s) cuda::barrier_init(&full[warp][s], 1);
    cuda::barrier_fence_init();
  }
  __syncwarp();
  Sender<F, chunks> sender(p, rows, begin, count, team);
  int left = mine;  // rows that are not sent for
  for (int s = 0; s < p.stages && left > 0; ++s, --left) {
    sender.send(ring + s * stage_size, &full[warp][s]);
    sender.advance(numbers);
  }
  if (mine > 0 && left <= let_start_left) cuda::let_next_start();
  if constexpr (ahead > 0) {
    Sender<F, chunks> further = sender;
    for (int i = 0; i < ahead && i < left; ++i) {
      further.ask();
      further.advance(numbers);
    }
  }
  Eights norm;
  load_norm(p, int(threadIdx.x), norm);
  cuda::wait_for_previous();

  if (p.fused) stage_floats(p, norm, codes, entries);
  else stage_act(p, codes, entries);
  __syncthreads();
  const Lanes<F, chunks> lanes({codes, entries}, begin, mine > 0 ? count : 0);

  // -- the stream --
  int i = 0, stage = 0;
  unsigned parity = 0;
  for (int from = 0; from < numbers; from += p.batch) {
    const int to = min(from + p.batch, numbers);
    while (i < mine && team + i * p.teams < to) {
      float sum[rows_at_once] = {};
      const int now = min(rows_at_once, mine - i);
#pragma unroll 1  // the loop stays in the instruction cache
      for (int q = 0; q < now; ++q) {
        std::byte* const at = ring + stage * stage_size;
        cuda::barrier_wait(&full[warp][stage], parity);
        const float value = lanes.row(at);
#pragma unroll
        for (int k = 0; k < rows_at_once; ++k) sum[k] = k == q ? value : sum[k];
        __syncwarp();
        if (left > 0) {
          sender.send(at, &full[warp][stage]);
          sender.advance(numbers);
          if (--left == let_start_left) cuda::let_next_start();
        }
        if (++stage == p.stages) stage = 0, parity ^= 1;
      }
      const float all = matvec::sum_over_lanes(sum);
      const int row = i + lane / (32 / rows_at_once);
      if (lane % (32 / rows_at_once) == 0 && row < mine) partial[(team + row * p.teams - from) * p.split + part] = all;
      i += rows_at_once;
    }
    __syncthreads();
    finish(p, rows, partial, from, to);
    if (to < numbers) __syncthreads();
  }
#endif
}

// Few parts, so that the lanes have much to do, but nearly all warps in teams.
int split_of(int units, int part_units) {
  for (int split = (units + part_units - 1) / part_units; split <= ring_warps && split <= units; ++split)
    if (ring_warps / split * split >= ring_warps - 1) return split;
  return 0;
}

template <class F, int chunks> bool launch_chunks(const cuda::Launch& on, Ring p) {
  static const bool has_code = [] {
    cudaFuncAttributes attributes{};
    return cudaFuncGetAttributes(&attributes, multiply_row<F, chunks>) == cudaSuccess && attributes.ptxVersion >= 90;
  }();
  p.split = split_of(p.units, chunks * 32 / F::lanes);
  if (!has_code || p.split == 0) return false;
  p.teams = ring_warps / p.split;
  p.part_units = p.units / p.split, p.more_units = p.units % p.split;
  for (int warp = 0; warp < ring_warps; ++warp) p.team_of |= unsigned(warp / p.split) << 4 * warp;
  const int blocks = p.rows < on.multiprocessors ? p.rows : on.multiprocessors, round = rows_at_once * p.teams;
  if (blocks == 0) return true;
  p.block_rows = p.rows / blocks, p.more_rows = p.rows % blocks;
  const int numbers = (p.rows + blocks - 1) / blocks * (p.around.gates ? 2 : 1);  // of a block, at most
  const int wanted = (numbers + round - 1) / round * round, most = most_partial_bytes / 4 / p.split / round * round;
  p.batch = wanted < most || p.around.gates ? wanted : most;
  const std::int64_t others = p.columns + p.columns / 32 * 8 + std::int64_t(p.batch) * p.split * 4;
  const int all_stages = p.split * p.teams * stage_bytes<F>(chunks);
  p.stages = int((most_dynamic_bytes - others) / all_stages);
  if (p.stages < 2) return false;
  if (p.stages > most_stages) p.stages = most_stages;
  const int bytes = p.stages * all_stages + int(others);
  cuda::launch(on, multiply_row<F, chunks>, dim3(unsigned(blocks)), ring_threads,
               std::max(int(bytes), least_dynamic_bytes), p);
  return true;
}

template <class F> bool launch_ring(const cuda::Launch& on, const Ring& p) {
  return p.units > 32 / F::lanes ? launch_chunks<F, 2>(on, p) : launch_chunks<F, 1>(on, p);
}

}  // namespace

bool ring_launch(const cuda::Launch& on, DType type, const Task& task) {
  if (on.arch < 90 || on.arch >= 120 || task.tokens != 1 || task.columns % 256 != 0 || task.columns > 1 << 15)
    return false;
  Ring p{.x = task.x,
         .around = task.around,
         .fused = task.fused,
         .segments = task.segments,
         .columns = task.columns,
         .units = task.columns / 256};
  for (int s = 0; s < task.segments; ++s) {
    const Segment& from = task.segment[s];
    RingSegment& to = p.segment[s];
    for (int i = 0; i < 4; ++i) to.plane[i] = from.plane[i];
    if (reinterpret_cast<std::uintptr_t>(from.plane[0]) % 16 != 0) return false;
    to.bias = from.bias, to.out = from.out, to.first = p.rows, to.end = p.rows + from.rows;
    if (!task.around.gates || s == 0) p.rows += from.rows;
  }
  switch (type) {
    case DType::q8_0: return launch_ring<RingQ8_0>(on, p);
    case DType::q4_0: return launch_ring<RingNibbles<false>>(on, p);
    case DType::q4_1: return launch_ring<RingNibbles<true>>(on, p);
    case DType::q4_k: return launch_ring<RingQ4_K>(on, p);
    case DType::q6_k: return launch_ring<RingQ6_K>(on, p);
    default: return false;
  }
}

}  // namespace ridge::op::matvec_blocks
