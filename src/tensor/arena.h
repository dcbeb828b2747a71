// Anonymous memory at a fixed address, zero until written, given back at the end. Pages that nobody touches cost
// nothing, so an arena may be as large as the largest step that might come.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>

namespace ridge {

enum class Pages : std::uint8_t { normal, huge };  // huge: asks the system for 2 MiB pages where it can

class Arena {
 public:
  Arena() = default;
  explicit Arena(std::int64_t bytes, Pages pages = Pages::normal);  // Fault::machine where there is no such memory
  ~Arena();
  Arena(Arena&& o) noexcept : data_(std::exchange(o.data_, nullptr)), bytes_(std::exchange(o.bytes_, 0)) {}
  Arena& operator=(Arena&& o) noexcept {
    std::swap(data_, o.data_), std::swap(bytes_, o.bytes_);
    return *this;
  }
  std::byte* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

}  // namespace ridge
