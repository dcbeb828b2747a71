#include <cuda_fp16.h>

#include "op/kv_store/kv_layout.h"
#include "op/kv_store/kv_store.h"
#include "op/store_row.cuh"

namespace ridge::op {
namespace {

__device__ void put(float* at, float v) { *at = v; }
__device__ void put(__half* at, float v) { *at = __float2half_rn(v); }

template <class T>
__global__ void __launch_bounds__(256)
    store(T* state, const float* k, const float* v, const std::int32_t* slots, KvLayout at) {
  cuda::let_next_start();
  cuda::wait_for_previous();
  const std::int64_t t = blockIdx.x, i = std::int64_t(blockIdx.y) * blockDim.x + threadIdx.x,
                     columns = at.heads * at.head_dim;
  const std::int64_t slot = slots[t];
  if (slot >= 0 && i < columns) {
    const std::int64_t block = slot / at.block_size, place = slot % at.block_size, head = i / at.head_dim,
                       e = i % at.head_dim;
    put(state + at.keys(block, head) + at.key_at(place, e), k[t * columns + i]);
    put(state + at.values(block, head) + at.value_at(place, e), v[t * columns + i]);
  }
}

template <class T> void store_as(const ir::CudaBound& b) {
  const View state = b.out[0];
  const KvLayout at(state);
  cuda::launch(b.on, store<T>, dim3(unsigned(b.in[3].dim(0)), unsigned((at.heads * at.head_dim + 255) / 256)), 256, 0,
               state.as<T>(), b.in[1].as<float>(), b.in[2].as<float>(), b.in[3].as<std::int32_t>(), at);
}

}  // namespace

ir::KernelChoice choose_kv_store_cuda(const ir::Program& p, const ir::Call& c, const ir::Target&) {
  const bool half = p[c.in[0]].dtype == DType::f16;
  return {.kernel = half ? "kv_store/sm80 f16" : "kv_store/sm80 f32",
          .reason = "a thread to a value",
          .launch = half ? store_as<__half> : store_as<float>};
}

}  // namespace ridge::op
