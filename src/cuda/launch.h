// What a kernel launch needs besides its arguments. No CUDA header: any room may pass it on.
#pragma once

struct CUstream_st;  // cudaStream_t points to it

namespace ridge::cuda {

struct Launch {
  CUstream_st* stream = nullptr;
  int arch = 0;  // of the device: 90 is 9.0
  int multiprocessors = 0;
  bool dependent = false;  // programmatic dependent launch: a kernel may start before the one before it has ended
};

}  // namespace ridge::cuda
