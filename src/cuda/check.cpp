#include "cuda/check.h"

#include "base/error.h"

namespace ridge::cuda {

void check(cudaError_t code, std::string_view what) {
  if (code == cudaSuccess) return;
  const char *name = cudaGetErrorName(code), *says = cudaGetErrorString(code);
  cudaGetLastError();  // one that does not poison the context is not to be seen again
  switch (code) {
    case cudaErrorMemoryAllocation:
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorDevicesUnavailable:
    case cudaErrorSystemDriverMismatch: fail_machine("{}: {} ({})", what, says, name);
    default: fail_bug("{}: {} ({})", what, says, name);
  }
}

}  // namespace ridge::cuda
