// A cluster of blocks to a row: they hold it in their shared memory, so that it is read from memory once, and each
// other's results are a few hundred nanoseconds away.
#include <cooperative_groups.h>

#include "cuda/launch.cuh"
#include "op/sampling/cuda_kernels.h"
#include "op/sampling/row_sampler.cuh"

namespace ridge::op {
namespace {

constexpr int blocks_of_cluster = 8, threads_of_block = 512;

#if __CUDA_ARCH__ >= 900
struct Cluster {
  static constexpr int blocks = blocks_of_cluster, threads = threads_of_block, ahead = 2;
  cooperative_groups::cluster_group group = cooperative_groups::this_cluster();
  __device__ int rank() const { return int(blockIdx.x); }
  template <class T> __device__ T* at(T* p, int r) const { return group.map_shared_rank(p, r); }
  __device__ void begin() const { asm volatile("barrier.cluster.arrive.relaxed.aligned;"); }  // nothing is written yet
  __device__ void begun() const { group.barrier_wait(); }
  __device__ void sync() const { group.sync(); }
};
#endif
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define RIDGE_CLUSTER __cluster_dims__(blocks_of_cluster, 1, 1)
#else
#define RIDGE_CLUSTER
#endif

__global__ void RIDGE_CLUSTER __launch_bounds__(threads_of_block, 2)
    sample_by_cluster(const float* logits, const SampleControl* controls, const SampleAdjust* adjusts,
                      std::int32_t* tokens, int vocabulary, bool vectors) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(16) unsigned char shared[];
  const Cluster cluster;
  cluster.begin();
  cuda::let_next_start();
  cuda::wait_for_previous();
  const std::int64_t r = blockIdx.y;
  const sampler::RowTask task{logits + r * vocabulary,
                              reinterpret_cast<float*>(shared + sizeof(sampler::Shared)),
                              controls + r,
                              adjusts,
                              tokens + r,
                              vocabulary,
                              vectors};
  sampler::RowSampler(cluster, task, *reinterpret_cast<sampler::Shared*>(shared)).run();
#endif
}

}  // namespace

std::int64_t sampling_cluster_shared_bytes(std::int64_t vocabulary) {
  const std::int64_t part = ((vocabulary + blocks_of_cluster - 1) / blocks_of_cluster + 3) / 4 * 4;
  return std::int64_t(sizeof(sampler::Shared)) + part * std::int64_t(sizeof(float));
}

void sampling_cluster_cuda(const ir::CudaBound& b) {
  const View logits = b.in[0];
  cuda::launch(b.on, sample_by_cluster, dim3(blocks_of_cluster, unsigned(logits.rows())), threads_of_block,
               int(sampling_cluster_shared_bytes(logits.columns())), logits.as<float>(), b.in[1].as<SampleControl>(),
               b.in[2].as<SampleAdjust>(), b.out[0].as<std::int32_t>(), int(logits.columns()),
               logits.columns() % 4 == 0);
}

}  // namespace ridge::op
