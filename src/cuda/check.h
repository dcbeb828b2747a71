// What the CUDA runtime answers, as ridge's errors.
#pragma once
#include <cuda_runtime_api.h>

#include <string_view>

namespace ridge::cuda {

// Throws where `code` is an error: memory that is not there is the machine's fault, and so is a driver too old; all
// else is ours. `what` says what was tried.
void check(cudaError_t code, std::string_view what);

}  // namespace ridge::cuda
