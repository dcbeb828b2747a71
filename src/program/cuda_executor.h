// Programs on a GPU. In builds with CUDA only.
#pragma once
#include <memory>

#include "program/bind_weights.h"
#include "program/executor.h"

namespace ridge::program {

struct CudaOptions {
  bool graphs = true;     // decode steps are captured once per bucket of sequences and then launched as one
  bool dependent = true;  // programmatic dependent launch between kernels
};

// Weights in the device's memory, block formats in planes (tensor/planes.h), vectors as f32. `release` as in
// bind_weights.
BoundWeights upload_weights(const ir::Program& p, std::span<const WeightSource> sources, ThreadPool& pool,
                            const std::function<void(std::size_t source)>& release);

// One arena on the device for inputs, states, intermediates and scratch. Target::gpu says which device, and it must be
// this thread's. Inputs are written to pinned memory and copied when a run begins; a run returns at once.
std::unique_ptr<Executor> make_cuda_executor(const ir::Program& program, const ir::Target& target,
                                             std::vector<View> weights, const CudaOptions& options,
                                             Reuse reuse = Reuse::in_place);

}  // namespace ridge::program
