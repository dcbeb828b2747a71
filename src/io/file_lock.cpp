#include "io/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace ridge::io {

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  if (this == &other) return *this;
  release();
  descriptor_ = std::exchange(other.descriptor_, -1);
  return *this;
}

FileLock::~FileLock() { release(); }

void FileLock::release() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));  // which lets go of the lock
}

bool FileLock::try_lock(const std::filesystem::path& path) {
  release();
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  for (;;) {
    descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0664);
    if (descriptor_ < 0) fail_machine("{}: cannot be opened: {}", path.string(), std::strerror(errno));
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      const int why = errno;
      release();
      if (why == EWOULDBLOCK) return false;
      if (why != EINTR) fail_machine("{}: cannot be locked: {}", path.string(), std::strerror(why));
      continue;
    }
    struct stat ours {
    }, named{};  // whoever held it before may have removed the file: then the lock is of no name
    if (::fstat(descriptor_, &ours) == 0 && ::stat(path.c_str(), &named) == 0 && ours.st_ino == named.st_ino &&
        ours.st_dev == named.st_dev)
      return true;
    release();
  }
}

}  // namespace ridge::io
