// The GPU kernels of sampling, each for what choose_sampling_cuda gives it.
#pragma once
#include "ir/op_info.h"

namespace ridge::op {

void sampling_block_cuda(const ir::CudaBound&);    // a block to a row
void sampling_cluster_cuda(const ir::CudaBound&);  // a cluster of blocks to a row, which it holds in shared memory
std::int64_t sampling_cluster_shared_bytes(std::int64_t vocabulary);

}  // namespace ridge::op
