#include <cuda_runtime_api.h>

#include "cuda/has_code.h"

namespace ridge::cuda {
namespace {
__global__ void probe() {}
}  // namespace

int code_arch() {
  cudaFuncAttributes attributes{};
  const bool has = cudaFuncGetAttributes(&attributes, probe) == cudaSuccess;
  cudaGetLastError();
  return has ? attributes.ptxVersion : 0;
}

}  // namespace ridge::cuda
