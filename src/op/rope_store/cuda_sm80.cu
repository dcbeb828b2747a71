#include <cuda_fp16.h>

#include "op/kv_store/kv_layout.h"
#include "op/rope/rope.h"
#include "op/rope_store/rope_store.h"
#include "op/store_row.cuh"

namespace ridge::op {
namespace {

struct RopeStoreTask {
  const float *q, *k, *v, *angles;
  const std::int32_t* slots;
  float* q_out;
  int heads, kv_heads, head_dim, half;
  bool pairs;
};

__device__ void put(float* at, float v) { *at = v; }
__device__ void put(__half* at, float v) { *at = __float2half_rn(v); }

// Element pairs of a head: the two that are rotated together; the rest of the head after them, each by itself.
struct Pair {
  int first, second;  // second < 0: `first` alone, as it is
};
__device__ Pair pair_of(const RopeStoreTask& t, int i) {
  if (i >= t.half) return {i + t.half, -1};
  return t.pairs ? Pair{2 * i, 2 * i + 1} : Pair{i, i + t.half};
}

// A block to a token and head: the query heads, then the heads of keys and values.
template <class T> __global__ void __launch_bounds__(64) rope_store(RopeStoreTask t, T* state, KvLayout at) {
  cuda::let_next_start();
  cuda::wait_for_previous();
  const std::int64_t row = blockIdx.x;
  const int head = int(blockIdx.y), per_head = t.head_dim - t.half;
  const float *cosine = t.angles + row * 2 * t.half, *sine = cosine + t.half;
  const bool is_q = head < t.heads;
  const int kv_head = head - t.heads;
  const float* from =
      is_q ? t.q + (row * t.heads + head) * t.head_dim : t.k + (row * t.kv_heads + kv_head) * t.head_dim;
  const std::int64_t slot = is_q ? 0 : t.slots[row], block = slot / at.block_size, place = slot % at.block_size;
  for (int i = int(threadIdx.x); i < per_head; i += int(blockDim.x)) {
    const Pair pair = pair_of(t, i);
    float a = from[pair.first], b = pair.second < 0 ? 0.0f : from[pair.second];
    if (pair.second >= 0) {
      const float c = cosine[i], s = sine[i], turned = __fsub_rn(__fmul_rn(a, c), __fmul_rn(b, s));
      b = __fadd_rn(__fmul_rn(a, s), __fmul_rn(b, c));
      a = turned;
    }
    if (is_q) {
      float* to = t.q_out + (row * t.heads + head) * t.head_dim;
      to[pair.first] = a;
      if (pair.second >= 0) to[pair.second] = b;
    } else if (slot >= 0) {
      put(state + at.keys(block, kv_head) + at.key_at(place, pair.first), a);
      if (pair.second >= 0) put(state + at.keys(block, kv_head) + at.key_at(place, pair.second), b);
    }
  }
  if (!is_q && slot >= 0) {
    const float* v = t.v + (row * t.kv_heads + kv_head) * t.head_dim;
    for (int i = int(threadIdx.x); i < t.head_dim; i += int(blockDim.x))
      put(state + at.values(block, kv_head) + at.value_at(place, i), v[i]);
  }
}

template <class T> void launch_as(const ir::CudaBound& b) {
  const auto& params = b.as<RopeParams>();
  const int d = params.head_dim;
  const RopeStoreTask task{b.in[0].as<float>(),
                           b.in[1].as<float>(),
                           b.in[2].as<float>(),
                           b.in[3].as<float>(),
                           b.in[4].as<std::int32_t>(),
                           b.out[0].as<float>(),
                           int(b.in[0].columns() / d),
                           int(b.in[1].columns() / d),
                           d,
                           int(b.in[3].columns() / 2),
                           params.style == RopeStyle::pairs};
  cuda::launch(b.on, rope_store<T>, dim3(unsigned(b.in[0].rows()), unsigned(task.heads + task.kv_heads)), 64, 0, task,
               b.out[1].as<T>(), KvLayout(b.out[1]));
}

}  // namespace

ir::KernelChoice choose_rope_store_cuda(const ir::Program& p, const ir::Call& c, const ir::Target&) {
  const bool half = p[c.in[5]].dtype == DType::f16;
  return {.kernel = half ? "rope_store/sm80 f16" : "rope_store/sm80 f32",
          .reason = "a block to a token and head",
          .launch = half ? launch_as<__half> : launch_as<float>};
}

}  // namespace ridge::op
