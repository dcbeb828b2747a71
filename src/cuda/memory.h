// Memory on the device, and memory of the host that the device reaches.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>

namespace ridge::cuda {

enum class Where : unsigned char { device, pinned };  // pinned: page-locked host memory, same address on both sides

class Buffer {
 public:
  Buffer() = default;
  // Contents undefined. Refused before it is tried where the device has less than `bytes` free (Fault::machine; `what`
  // names the use).
  Buffer(Where where, std::int64_t bytes, const char* what);
  ~Buffer();
  Buffer(Buffer&& o) noexcept
      : where_(o.where_), data_(std::exchange(o.data_, nullptr)), bytes_(std::exchange(o.bytes_, 0)) {}
  Buffer& operator=(Buffer&& o) noexcept {
    std::swap(where_, o.where_), std::swap(data_, o.data_), std::swap(bytes_, o.bytes_);
    return *this;
  }
  std::byte* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }

 private:
  Where where_ = Where::device;
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

}  // namespace ridge::cuda
