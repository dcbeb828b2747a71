#include "cuda/memory.h"

#include "base/error.h"
#include "base/format.h"
#include "cuda/check.h"
#include "cuda/device.h"

namespace ridge::cuda {

Buffer::Buffer(Where where, std::int64_t bytes, const char* what) : where_(where), bytes_(bytes) {
  if (bytes == 0) return;
  void* data = nullptr;
  if (where == Where::pinned) {
    check(cudaMallocHost(&data, std::size_t(bytes)), what);
  } else {
    const Memory now = memory();
    if (now.free < bytes)
      fail_machine(
          "{} needs {} of GPU memory and {} of {} are free: a shorter --context, fewer sequences or smaller weights "
          "need less",
          what, format_bytes(double(bytes)), format_bytes(double(now.free)), format_bytes(double(now.total)));
    check(cudaMalloc(&data, std::size_t(bytes)), what);
  }
  data_ = static_cast<std::byte*>(data);
}

Buffer::~Buffer() {
  if (!data_) return;
  if (where_ == Where::pinned) cudaFreeHost(data_);
  else cudaFree(data_);
}

}  // namespace ridge::cuda
