#include <cuda_runtime_api.h>

#include "cuda/has_code.h"

namespace ridge::cuda {
namespace {
__global__ void probe() {}
}  // namespace

bool has_code() {
  cudaFuncAttributes attributes;
  const bool has = cudaFuncGetAttributes(&attributes, probe) == cudaSuccess;
  cudaGetLastError();
  return has;
}

}  // namespace ridge::cuda
