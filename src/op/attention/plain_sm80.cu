// Attention that is right for every shape: a block to a query and head, keys in pieces, a running maximum and sum
// (Milakov and Gimelshein 2018). For prompts without a kernel of their own, and as the twin to compare others with.
#include <cuda_fp16.h>

#include "cuda/warp.cuh"
#include "op/attention/attention.h"
#include "op/attention/cuda_kernels.h"
#include "op/kv_store/kv_layout.h"
#include "op/store_row.cuh"

namespace ridge::op {
namespace {

constexpr int threads = 128, keys_at_once = 128;

__device__ float value_of(float v) { return v; }
__device__ float value_of(__half v) { return __half2float(v); }

struct AttendTask {
  const float* q;
  const void* state;  // null: k and v
  const float *k, *v;
  const std::int32_t *query_start, *context_len, *block_table;
  std::int64_t table_columns, columns, kv_columns;
  int sequences, heads, head_dim, group;  // group: query heads to a kv head
  float scale, softcap;
  std::int64_t window;
  bool causal;
};

__device__ int sequence_of(const AttendTask& a, std::int64_t row) {  // the last that begins at or before the row
  int low = 0, high = a.sequences - 1;
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    if (a.query_start[middle] <= row) low = middle;
    else high = middle - 1;
  }
  return low;
}

template <class T> struct Keys {
  const AttendTask& a;
  const KvLayout at;
  std::int64_t sequence, first_row;
  int head;
  __device__ float key(std::int64_t place, int i) const {
    if (!a.state) return a.k[(first_row + place) * a.kv_columns + head * a.head_dim + i];
    const std::int64_t block = a.block_table[sequence * a.table_columns + place / at.block_size];
    return value_of(static_cast<const T*>(a.state)[at.keys(block, head) + at.key_at(place % at.block_size, i)]);
  }
  __device__ float value(std::int64_t place, int i) const {
    if (!a.state) return a.v[(first_row + place) * a.kv_columns + head * a.head_dim + i];
    const std::int64_t block = a.block_table[sequence * a.table_columns + place / at.block_size];
    return value_of(static_cast<const T*>(a.state)[at.values(block, head) + at.value_at(place % at.block_size, i)]);
  }
};

template <class T> __global__ void __launch_bounds__(threads) attend(AttendTask a, KvLayout at, float* rows) {
  extern __shared__ float shared[];  // q, then the sum of values: head_dim each; then this piece's weights
  __shared__ float reduce[32];
  cuda::wait_for_previous();
  const std::int64_t row = blockIdx.x;
  const int head = int(blockIdx.y), d = a.head_dim, lane = int(threadIdx.x);
  float *q = shared, *sum = shared + d, *weight = shared + 2 * d;
  const int b = sequence_of(a, row);
  const std::int64_t first_row = a.query_start[b], queries = a.query_start[b + 1] - first_row;
  const std::int64_t context = a.context_len ? a.context_len[b] : queries;
  const std::int64_t position = context - queries + (row - first_row);
  const std::int64_t end = a.causal ? min(position + 1, context) : context;
  const std::int64_t begin = a.window > 0 ? max(std::int64_t(0), position + 1 - a.window) : 0;
  const Keys<T> keys{a, at, b, first_row, head / a.group};
  for (int i = lane; i < d; i += threads) q[i] = a.q[row * a.columns + head * d + i], sum[i] = 0;
  __syncthreads();
  float most = -INFINITY, total = 0;
  for (std::int64_t from = begin; from < end; from += keys_at_once) {
    const std::int64_t place = from + lane;
    float score = -INFINITY;
    if (place < end) {
      float dot = 0;
      for (int i = 0; i < d; ++i) dot = fmaf(q[i], keys.key(place, i), dot);
      score = dot * a.scale;
      if (a.softcap != 0) score = a.softcap * tanhf(score / a.softcap);
    }
    float piece = cuda::warp_max(score);
    if (lane % 32 == 0) reduce[lane / 32] = piece;
    __syncthreads();
    piece = fmaxf(fmaxf(reduce[0], reduce[1]), fmaxf(reduce[2], reduce[3]));
    const float next = fmaxf(most, piece), shrink = most == -INFINITY ? 0.0f : expf(most - next);
    const float w = place < end ? expf(score - next) : 0.0f;  // a NaN score stays one
    weight[lane] = w;
    __syncthreads();
    total = total * shrink + cuda::block_sum(w, reduce);
    const std::int64_t count = min(std::int64_t(keys_at_once), end - from);
    for (int i = lane; i < d; i += threads) {
      float s = sum[i] * shrink;
      for (std::int64_t k = 0; k < count; ++k) s = fmaf(weight[k], keys.value(from + k, i), s);
      sum[i] = s;
    }
    most = next;
    __syncthreads();
  }
  for (int i = lane; i < d; i += threads) rows[row * a.columns + head * d + i] = end > begin ? sum[i] / total : 0.0f;
  cuda::let_next_start();
}

struct Copy {
  const float* x;
  std::int64_t columns;
  __device__ float operator()(std::int64_t r, std::int64_t c) const { return x[r * columns + c]; }
};

}  // namespace

void attention_plain_cuda(const ir::CudaBound& b) {
  const auto& params = b.as<AttentionParams>();
  const bool cached = b.in.size() == 5;
  const View q = b.in[0];
  AttendTask a{.q = q.as<float>(), .columns = q.columns(), .head_dim = params.head_dim, .scale = params.scale, .softcap = params.softcap,
               .window = params.window, .causal = params.causal};
  a.heads = int(q.columns() / params.head_dim);
  std::int64_t kv_heads;
  View state{.dtype = DType::f32, .rank = 5};
  if (cached) {
    state = b.in[1];
    a.state = state.data, a.query_start = b.in[2].as<std::int32_t>(), a.context_len = b.in[3].as<std::int32_t>();
    a.block_table = b.in[4].as<std::int32_t>(), a.table_columns = b.in[4].columns(), a.sequences = int(b.in[3].dim(0));
    kv_heads = state.dim(2);
  } else {
    a.k = b.in[1].as<float>(), a.v = b.in[2].as<float>(), a.query_start = b.in[3].as<std::int32_t>(), a.sequences = int(b.in[3].dim(0)) - 1;
    a.kv_columns = b.in[1].columns(), kv_heads = a.kv_columns / params.head_dim;
  }
  a.group = int(a.heads / kv_heads);
  const bool q8 = b.out[0].dtype == DType::q8_act;
  float* rows = q8 ? reinterpret_cast<float*>(b.scratch.data()) : b.out[0].as<float>();
  const int shared = (2 * a.head_dim + keys_at_once) * int(sizeof(float));
  const dim3 grid(unsigned(q.rows()), unsigned(a.heads));
  cuda::launch(b.on, state.dtype == DType::f16 ? attend<__half> : attend<float>, grid, threads, shared, a, KvLayout(state), rows);
  if (q8) launch_each_value(b, b.out[0], Copy{rows, q.columns()});
}

}  // namespace ridge::op
