#include "io/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace ridge::io {
namespace {

constexpr std::size_t buffer_bytes = 1 << 16;

void write_all(int descriptor, std::span<const std::byte> bytes, const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(descriptor, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_machine("{}: writing failed: {}", name, std::strerror(errno));
    bytes = bytes.subspan(std::size_t(n));
  }
}

}  // namespace

OutputFile::OutputFile(const std::filesystem::path& path) : name_(path.string()) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  const bool straight = std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
  if (!straight) temporary_ = fmt::format("{}.part-{}", name_, ::getpid());
  const int flags = straight ? O_WRONLY | O_CLOEXEC : O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
  descriptor_ = ::open(straight ? name_.c_str() : temporary_.c_str(), flags, 0666);
  if (descriptor_ < 0) fail_input("{}: cannot be written: {}", name_, std::strerror(errno));
}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::write(std::span<const std::byte> bytes) {
  position_ += bytes.size();
  if (buffer_.size() + bytes.size() <= buffer_bytes) {
    buffer_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return;
  }
  flush();
  write_all(descriptor_, bytes, name_);
}

void OutputFile::write_zeros(std::uint64_t count) {
  static constexpr std::byte zeros[4096] = {};
  for (; count > 0; count -= std::min<std::uint64_t>(count, sizeof zeros))
    write(std::span(zeros).first(std::min<std::uint64_t>(count, sizeof zeros)));
}

void OutputFile::flush() {
  write_all(descriptor_, std::as_bytes(std::span(buffer_)), name_);
  buffer_.clear();
}

void OutputFile::finish() {
  flush();
  if (::close(std::exchange(descriptor_, -1)) != 0) fail_machine("{}: writing failed: {}", name_, std::strerror(errno));
  if (!temporary_.empty() && ::rename(temporary_.c_str(), name_.c_str()) != 0)
    fail_machine("{}: cannot be renamed to {}: {}", temporary_, name_, std::strerror(errno));
}

}  // namespace ridge::io
