#include "io/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace ridge::io {
namespace {

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "not a regular file";
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) : name_(path.string()) {
  // Not blocking: opening a pipe for reading would otherwise wait for a writer, before we can see that it is a pipe.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) fail_input("{}: cannot be opened: {}", name_, std::strerror(errno));
  struct stat status {};
  const bool regular = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  size_ = regular ? std::uint64_t(status.st_size) : 0;
  void* data = size_ ? ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE | MAP_NORESERVE, descriptor, 0) : nullptr;
  const int why = errno;
  ::close(descriptor);
  if (!regular) fail_input("{}: is {}; a regular file is needed", name_, kind_of(status.st_mode));
  if (data == MAP_FAILED)
    fail_machine("{}: mapping {} bytes failed: {} (is the address space limited, ulimit -v?)", name_, size_,
                 std::strerror(why));
  data_ = static_cast<const std::byte*>(data);
  device_ = status.st_dev;
  inode_ = status.st_ino;
}

MappedFile::MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this == &other) return *this;
  unmap();
  name_ = std::move(other.name_);
  data_ = std::exchange(other.data_, nullptr);
  size_ = std::exchange(other.size_, 0);
  device_ = other.device_;
  inode_ = other.inode_;
  return *this;
}

MappedFile::~MappedFile() { unmap(); }

void MappedFile::unmap() {
  if (data_) ::munmap(const_cast<std::byte*>(data_), size_);
}

std::span<const std::byte> MappedFile::subspan(std::uint64_t offset, std::uint64_t length,
                                               std::string_view what) const {
  if (offset > size_ || length > size_ - offset)
    fail_input("{}: {} needs {} bytes from offset {}, but the file ends at {}", name_, what, length, offset, size_);
  return bytes().subspan(offset, length);
}

void MappedFile::release(std::span<const std::byte> range) const {
  if (range.empty() || !data_) return;
  if (range.data() < data_ || range.data() + range.size() > data_ + size_)
    fail_bug("{}: released a range that is not of this file", name_);
  // Outward to whole pages: they are clean, so a neighbour that is still read only faults them in again.
  const std::size_t page = std::size_t(::sysconf(_SC_PAGESIZE));
  const std::size_t begin = std::size_t(range.data() - data_) / page * page;
  const std::size_t end = std::size_t(range.data() - data_) + range.size();
  ::madvise(const_cast<std::byte*>(data_) + begin, end - begin, MADV_DONTNEED);
}

void MappedFile::check_length() const {
  struct stat status {};
  const bool same = ::stat(name_.c_str(), &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
  if (same && std::uint64_t(status.st_size) < size_)
    fail_input("{}: has shrunk from {} to {} bytes while it was read", name_, size_, status.st_size);
}

}  // namespace ridge::io
