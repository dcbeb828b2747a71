// A warp to a product: a row of an expert's matrix times a token. Where experts have several tokens each, a block takes
// an expert's rows once for 4 tokens at a time. Both add in the same order, so a token's result is the same bit for
// bit.
#include <algorithm>
#include <cmath>
#include <string>

#include "cuda/warp.cuh"
#include "op/expert_linear/eights.cuh"
#include "op/expert_linear/expert_linear.h"
#include "op/store_row.cuh"

namespace ridge::op {
namespace {

constexpr int threads = 256, warps = threads / 32;

struct Task {
  DeviceMatrix first;  // expert 0's; the others' planes lie first.bytes further each
  const std::byte* x;
  std::int64_t x_row_bytes, x_slot;  // x_slot: columns from one of a token's experts to the next, 0 where they share x
  const std::int32_t* experts;
  const float* mix;  // or null
  float* out;
  int tokens, used, count;
  bool q8;

  __device__ DeviceMatrix matrix(int expert) const {
    DeviceMatrix m = first;
#pragma unroll
    for (int i = 0; i < 4; ++i) m.plane[i] += expert * m.bytes;
    return m;
  }
};

enum class Reads { eights, eights_q8, single };  // single: any type and size, value by value

// The product of a row of `m` and the part of token t's activations that begins at `slot`; in every lane.
template <DType type, Reads reads>
__device__ float product(const Task& a, const DeviceMatrix& m, std::int64_t row, std::int64_t t, std::int64_t slot) {
  const int lane = int(threadIdx.x % 32);
  const std::byte* const x = a.x + t * a.x_row_bytes;
  float sum = 0;
  if constexpr (reads == Reads::single) {
    for (std::int64_t c = lane; c < m.columns; c += 32) {
      float v;
      if (a.q8) {
        const ActBlock& block = reinterpret_cast<const ActBlock*>(x)[(slot + c) / 32];
        v = block.d * float(block.q[(slot + c) % 32]);
      } else {
        v = reinterpret_cast<const float*>(x)[slot + c];
      }
      sum = fmaf(weight_value<type>(m, row, c), v, sum);
    }
  } else {
#pragma unroll 4
    for (std::int64_t c = 8 * lane; c < m.columns; c += 256) {
      float w[8], v[8];
      eights::load_weights<type>(m, row, c, w);
      const float d = eights::load_act<reads == Reads::eights_q8>(x, slot + c, v);
      sum = fmaf(d, eights::dot(w, v), sum);
    }
  }
  return cuda::warp_sum(sum);
}

// A block to a token and 4 rows of the output; its warps share the products of the token's experts.
constexpr int rows_of_block = 4;
template <DType type, Reads reads> __global__ void __launch_bounds__(threads) multiply_tokens(Task a) {
  extern __shared__ float products[];  // of expert j and row n at [j * rows_of_block + n]
  cuda::let_next_start();
  cuda::wait_for_previous();
  const std::int64_t t = blockIdx.x, first = std::int64_t(blockIdx.y) * rows_of_block, rows = a.first.rows;
  const int lane = int(threadIdx.x % 32);
  for (int i = int(threadIdx.x / 32); i < a.used * rows_of_block; i += warps) {
    const int j = i / rows_of_block, expert = a.experts[t * a.used + j];
    const std::int64_t row = first + i % rows_of_block;
    if (row >= rows) continue;
    float p = NAN;  // of an expert that there is not
    if (expert >= 0 && expert < a.count) p = product<type, reads>(a, a.matrix(expert), row, t, j * a.x_slot);
    if (lane != 0) continue;
    if (a.mix) products[i] = p;
    else a.out[(t * a.used + j) * rows + row] = p;
  }
  if (!a.mix) return;
  __syncthreads();
  const std::int64_t row = first + threadIdx.x;
  if (threadIdx.x >= rows_of_block || row >= rows) return;
  float sum = 0;
  for (int j = 0; j < a.used; ++j) sum = fmaf(a.mix[t * a.used + j], products[j * rows_of_block + threadIdx.x], sum);
  a.out[t * rows + row] = sum;
}

// A block to an expert and 32 rows; products[pair * rows + row] for each pair token * used + j that has the expert.
constexpr int tokens_at_once = 4, rows_at_once = 2, rows_of_expert_block = 32, pairs_of_piece = 2048;
template <DType type, Reads reads>
__global__ void __launch_bounds__(threads, 2) multiply_experts(Task a, float* products) {
  __shared__ int pairs[pairs_of_piece];
  __shared__ int found;
  cuda::let_next_start();
  cuda::wait_for_previous();
  const int expert = int(blockIdx.y), lane = int(threadIdx.x % 32), all = a.tokens * a.used;
  const DeviceMatrix m = a.matrix(expert);
  const std::int64_t rows = m.rows;
  for (int piece = 0; piece < all; piece += pairs_of_piece) {
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    const int end = min(all, piece + pairs_of_piece);
    for (int i = piece + int(threadIdx.x); i < end; i += threads)
      if (a.experts[i] == expert)
        pairs[atomicAdd(&found, 1)] = i;  // in any order: products do not depend on each other
    __syncthreads();
    for (int begin = 0; begin < found; begin += tokens_at_once) {
      const std::byte* x[tokens_at_once];
      std::int64_t slot[tokens_at_once];
#pragma unroll
      for (int k = 0; k < tokens_at_once; ++k) {  // beyond the last one, the last one again
        const int pair = pairs[min(begin + k, found - 1)];
        x[k] = a.x + std::int64_t(pair / a.used) * a.x_row_bytes, slot[k] = pair % a.used * a.x_slot;
      }
      for (int r = int(threadIdx.x / 32) * rows_at_once; r < rows_of_expert_block; r += warps * rows_at_once) {
        const std::int64_t row = std::int64_t(blockIdx.x) * rows_of_expert_block + r;
        if (row >= rows) break;
        float sum[rows_at_once][tokens_at_once] = {};
        for (std::int64_t c = 8 * lane; c < m.columns; c += 256) {
          float w[rows_at_once][8], v[8];
#pragma unroll
          for (int n = 0; n < rows_at_once; ++n) eights::load_weights<type>(m, min(row + n, rows - 1), c, w[n]);
#pragma unroll
          for (int k = 0; k < tokens_at_once; ++k) {
            const float d = eights::load_act<reads == Reads::eights_q8>(x[k], slot[k] + c, v);
#pragma unroll
            for (int n = 0; n < rows_at_once; ++n) sum[n][k] = fmaf(d, eights::dot(w[n], v), sum[n][k]);
          }
        }
#pragma unroll
        for (int k = 0; k < tokens_at_once; ++k)
#pragma unroll
          for (int n = 0; n < rows_at_once; ++n) {
            const float p = cuda::warp_sum(sum[n][k]);
            if (lane == 0 && begin + k < found && row + n < rows)
              products[std::int64_t(pairs[begin + k]) * rows + row + n] = p;
          }
      }
    }
    __syncthreads();
  }
}

struct Mixed {
  const float *products, *mix;
  std::int64_t rows;
  int used;
  __device__ float operator()(std::int64_t t, std::int64_t n) const {
    float sum = 0;
    for (int j = 0; j < used; ++j) sum = fmaf(mix[t * used + j], products[(t * used + j) * rows + n], sum);
    return sum;
  }
};

constexpr std::int64_t tokens_of_piece = 512;  // of the products that wait to be mixed

bool worth_grouping(std::int64_t tokens, std::int64_t used, std::int64_t experts) {
  return tokens * used >= 2 * experts;
}

template <DType type, Reads reads> void launch_tokens(const ir::CudaBound& b, const Task& task) {
  const int shared = task.mix ? task.used * rows_of_block * int(sizeof(float)) : 0;
  const dim3 grid(unsigned(task.tokens), unsigned((task.first.rows + rows_of_block - 1) / rows_of_block));
  cuda::launch(b.on, multiply_tokens<type, reads>, grid, threads, shared, task);
}

template <DType type, Reads reads> void launch_experts(const ir::CudaBound& b, const Task& whole) {
  const std::int64_t rows = whole.first.rows;
  const dim3 grid(unsigned((rows + rows_of_expert_block - 1) / rows_of_expert_block), unsigned(whole.count));
  if (!whole.mix) return cuda::launch(b.on, multiply_experts<type, reads>, grid, threads, 0, whole, whole.out);
  float* const products = reinterpret_cast<float*>(b.scratch.data());
  for (std::int64_t from = 0; from < whole.tokens; from += tokens_of_piece) {
    Task task = whole;
    task.tokens = int(std::min(tokens_of_piece, whole.tokens - from));
    task.x += from * task.x_row_bytes, task.experts += from * task.used;
    cuda::launch(b.on, multiply_experts<type, reads>, grid, threads, 0, task, products);
    View out = b.out[0];
    out.data = out.row(from), out.dims[0] = task.tokens;
    launch_each_value(b, out, Mixed{products, whole.mix + from * task.used, rows, task.used});
  }
}

void expert_linear_cuda(const ir::CudaBound& b) {
  const View x = b.in[0], experts = b.in[1], weight = b.in[2], mix = b.in[3];
  Task task{.first = device_matrix(weight),
            .x = x.data,
            .x_row_bytes = x.row_bytes(),
            .experts = experts.as<std::int32_t>(),
            .mix = mix.as<float>(),
            .out = b.out[0].as<float>(),
            .tokens = int(x.rows()),
            .used = int(experts.columns()),
            .count = int(weight.dim(0)),
            .q8 = x.dtype == DType::q8_act};
  const std::int64_t columns = task.first.columns;
  task.x_slot = mix ? columns : 0;
  if (task.tokens == 0) return;
  const bool grouped = worth_grouping(task.tokens, task.used, task.count);
  with_weight_type(weight.dtype, [&]<DType type>() {
    if constexpr (eights::has(type)) {
      if (columns % 8 == 0 && !task.q8)
        return grouped ? launch_experts<type, Reads::eights>(b, task) : launch_tokens<type, Reads::eights>(b, task);
    }
    if constexpr (eights::has(type) && !eights::is_plain(type)) {
      if (task.q8)
        return grouped ? launch_experts<type, Reads::eights_q8>(b, task)
                       : launch_tokens<type, Reads::eights_q8>(b, task);
    }
    if constexpr (!eights::has(type) || eights::is_plain(type)) launch_tokens<type, Reads::single>(b, task);
  });
}

}  // namespace

ir::KernelChoice choose_expert_linear_cuda(const ir::Program& p, const ir::Call& c, const ir::Target& target) {
  const ir::ValueInfo &x = p[c.in[0]], &weight = p[c.in[2]];
  const std::int64_t used = p[c.in[1]].shape[1].size, experts = weight.shape[0].size, rows = weight.shape[1].size,
                     columns = weight.shape[2].size;
  const std::int64_t tokens = target.most.of(x.shape[0]);
  const bool q8 = x.dtype == DType::q8_act, plain = eights::is_plain(weight.dtype);
  const bool fast = eights::has(weight.dtype) && columns % 8 == 0 && !(q8 && plain);
  if (experts > 65535 || rows > 65535 * rows_of_block)
    ir::refuse("expert_linear", "more experts or outputs than a grid has blocks");
  const std::string types = std::string(name(weight.dtype)) + (q8 ? " x int8" : " x f32");
  if (!fast)
    return {.kernel = "expert_linear/plain sm80 " + types,
            .reason = "no faster kernel for this type and size",
            .launch = expert_linear_cuda};
  const bool grouped = worth_grouping(tokens, used, experts);
  return {.kernel = "expert_linear/sm80 " + types,
          .reason = grouped ? "a warp to a product; by expert where they have two tokens each" : "a warp to a product",
          .scratch_bytes =
              grouped && c.in[3] ? std::min(tokens, tokens_of_piece) * used * rows * std::int64_t(sizeof(float)) : 0,
          .launch = expert_linear_cuda};
}

}  // namespace ridge::op
