#include "tensor/arena.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace ridge {

Arena::Arena(std::int64_t bytes, Pages pages) : bytes_(bytes) {
  if (bytes == 0) return;
  void* p =
      mmap(nullptr, std::size_t(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    fail_machine("cannot get {} MiB of memory: {}; try a shorter --context", bytes >> 20, std::strerror(errno));
  data_ = static_cast<std::byte*>(p);
  if (pages == Pages::huge) madvise(p, std::size_t(bytes), MADV_HUGEPAGE);
}

Arena::~Arena() {
  if (data_) munmap(data_, std::size_t(bytes_));
}

}  // namespace ridge
