// Launching kernels, and the two instructions of programmatic dependent launch.
//
// The rule that every kernel keeps: before wait_for_previous() it reads nothing but immutable weights and parameters,
// and writes nothing; every thread that reads or writes anything else, or exits, has called it. let_next_start() may
// be called at any time: the next kernel's blocks then start as this one's leave room, and wait in their turn.
#pragma once
#include <cuda_runtime.h>

#include "cuda/check.h"
#include "cuda/launch.h"

namespace ridge::cuda {

__device__ __forceinline__ void wait_for_previous() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ __forceinline__ void let_next_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// Puts a kernel on the stream. A grid without blocks is no launch.
template <class... Parameters, class... Arguments>
void launch(const Launch& on, void (*kernel)(Parameters...), dim3 grid, int threads, int shared_bytes,
            Arguments... arguments) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  if (shared_bytes > 48 << 10)
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes),
          "asking for shared memory");
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = dim3(unsigned(threads));
  config.dynamicSmemBytes = std::size_t(shared_bytes);
  config.stream = on.stream;
  config.attrs = &attribute;
  config.numAttrs = on.dependent && on.arch >= 90 ? 1 : 0;
  check(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...), "launching a kernel");
}

}  // namespace ridge::cuda
