// A lock file, as Python's filelock has them (flock): held until the object goes away.
#pragma once
#include <filesystem>

namespace ridge::io {

class FileLock {
 public:
  FileLock() = default;
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

  // Makes the file and its folder where needed. Returns whether the lock was free. Fails (machine) where the disk has
  // no locks.
  bool try_lock(const std::filesystem::path& path);

 private:
  void release();
  int descriptor_ = -1;
};

}  // namespace ridge::io
