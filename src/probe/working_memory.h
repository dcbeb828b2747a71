// The memory that bandwidth is measured on: huge pages where the system grants them, filled with random bytes by the
// threads that will read it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace ridge {
class ThreadPool;
}

namespace ridge::probe {

class WorkingMemory {
 public:
  explicit WorkingMemory(std::int64_t bytes);  // rounded up to 2 MiB
  ~WorkingMemory();
  WorkingMemory(const WorkingMemory&) = delete;
  WorkingMemory& operator=(const WorkingMemory&) = delete;

  std::span<std::byte> bytes() const { return {data_, size_}; }
  void fill(ThreadPool& pool);

 private:
  void* mapped_ = nullptr;
  std::size_t mapped_size_ = 0;
  std::byte* data_ = nullptr;  // 2 MiB aligned
  std::size_t size_ = 0;
};

}  // namespace ridge::probe
