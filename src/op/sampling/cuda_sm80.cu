// A block to a row, which it reads where it lies. For GPUs without clusters, and for rows that no cluster can hold.
#include "cuda/launch.cuh"
#include "op/sampling/cuda_kernels.h"
#include "op/sampling/row_sampler.cuh"

namespace ridge::op {
namespace {

struct Block {
  static constexpr int blocks = 1, threads = 512, ahead = 8;
  __device__ int rank() const { return 0; }
  template <class T> __device__ T* at(T* p, int) const { return p; }
  __device__ void begun() const {}
  __device__ void sync() const { __syncthreads(); }
};

__global__ void __launch_bounds__(Block::threads, 1)
    sample_by_block(const float* logits, const SampleControl* controls, const SampleAdjust* adjusts,
                    float* adjusted_rows, std::int32_t* tokens, int vocabulary, bool vectors) {
  extern __shared__ __align__(16) unsigned char shared[];
  cuda::let_next_start();
  cuda::wait_for_previous();
  const std::int64_t r = blockIdx.x;
  const sampler::RowTask task{
      logits + r * vocabulary, adjusted_rows + r * vocabulary, controls + r, adjusts, tokens + r, vocabulary, vectors};
  sampler::RowSampler(Block{}, task, *reinterpret_cast<sampler::Shared*>(shared)).run();
}

}  // namespace

void sampling_block_cuda(const ir::CudaBound& b) {
  const View logits = b.in[0];
  cuda::launch(b.on, sample_by_block, dim3(unsigned(logits.rows())), Block::threads, int(sizeof(sampler::Shared)),
               logits.as<float>(), b.in[1].as<SampleControl>(), b.in[2].as<SampleAdjust>(),
               reinterpret_cast<float*>(b.scratch.data()), b.out[0].as<std::int32_t>(), int(logits.columns()),
               logits.columns() % 4 == 0);
}

ir::KernelChoice choose_sampling_cuda(const ir::Program& p, const ir::Call& c, const ir::Target& target) {
  const Shape& logits = p[c.in[0]].shape;
  const std::int64_t vocabulary = logits[1].size, most_shared = (target.gpu.arch < 120 ? 227 : 99) << 10;
  if (vocabulary > 1 << 30) ir::refuse("sampling", "a vocabulary beyond 2^30");
  if (target.gpu.arch >= 90 && sampling_cluster_shared_bytes(vocabulary) <= most_shared)
    return {.kernel = "sampling/cluster sm90",
            .reason = "a cluster of blocks holds a row in shared memory",
            .launch = sampling_cluster_cuda};
  return {.kernel = "sampling/block sm80",
          .reason = target.gpu.arch < 90 ? "a block to a row: this GPU has no clusters"
                                         : "a block to a row, which no cluster can hold",
          .scratch_bytes = target.most.of(logits[0]) * vocabulary * std::int64_t(sizeof(float)),
          .launch = sampling_block_cuda};
}

}  // namespace ridge::op
