#include "io/blob_download.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "io/file_lock.h"
#include "io/hash.h"
#include "io/quote.h"

namespace ridge::io {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t most_times = 8;             // that the bytes of a file are taken, however a server begins anew
constexpr std::uint64_t progress_bytes = 64 << 10;  // an attempt that gained less counts as failed like the one before

fs::path incomplete(const BlobRequest& r) { return r.blob.string() + ".incomplete"; }

HashKind kind_of(const FileFacts& facts) { return facts.hash.size() == 40 ? HashKind::sha1 : HashKind::sha256; }

Hasher fresh_hasher(const FileFacts& facts) {
  Hasher hasher(kind_of(facts));
  if (kind_of(facts) == HashKind::sha1) hasher.add(fmt::format("blob {}{}", facts.bytes, '\0'));  // as git names a blob
  return hasher;
}

// The file that grows, and the hash of what it holds.
class Incomplete {
 public:
  Incomplete(const BlobRequest& request, const std::function<void(std::uint64_t)>& progress)
      : request_(request),
        name_(incomplete(request).string()),
        progress_(progress),
        hasher_(fresh_hasher(request.facts)) {
    descriptor_ = ::open(name_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (descriptor_ < 0) fail_machine("{}: cannot be opened: {}", name_, std::strerror(errno));
    take_up();
  }
  ~Incomplete() { ::close(descriptor_); }
  Incomplete(const Incomplete&) = delete;
  Incomplete& operator=(const Incomplete&) = delete;

  std::uint64_t size() const { return size_; }

  void restart() {
    if (::ftruncate(descriptor_, 0) != 0 || ::lseek(descriptor_, 0, SEEK_SET) != 0)
      fail_machine("{}: cannot be emptied: {}", name_, std::strerror(errno));
    size_ = 0;
    hasher_ = fresh_hasher(request_.facts);
    progress_(0);
  }

  void append(std::span<const std::byte> bytes) {
    hasher_.add(bytes);
    while (!bytes.empty()) {
      const ssize_t n = ::write(descriptor_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0)
        fail_machine("{}: writing failed: {}; what is there stays, and the same command goes on from it", name_,
                     std::strerror(errno));
      size_ += std::uint64_t(n);
      bytes = bytes.subspan(std::size_t(n));
    }
    progress_(size_);
  }

  std::string hash() { return hasher_.hex(); }

  void finish() {
    if (::fsync(descriptor_) != 0) fail_machine("{}: writing failed: {}", name_, std::strerror(errno));
    if (::rename(name_.c_str(), request_.blob.c_str()) != 0)
      fail_machine("{}: cannot be renamed: {}", name_, std::strerror(errno));
  }
  void drop() { ::unlink(name_.c_str()); }

 private:
  // What an earlier attempt left is read again for the hash.
  void take_up() {
    std::vector<std::byte> buffer(1 << 20);
    for (ssize_t n = 1; n != 0;) {
      n = ::read(descriptor_, buffer.data(), buffer.size());
      if (interrupted()) throw Interrupted{};
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail_machine("{}: cannot be read: {}", name_, std::strerror(errno));
      size_ += std::uint64_t(n);
      if (size_ > request_.facts.bytes) return restart();
      hasher_.add(std::span(buffer).first(std::size_t(n)));
      progress_(size_);
    }
  }

  const BlobRequest& request_;
  std::string name_;
  const std::function<void(std::uint64_t)>& progress_;
  Hasher hasher_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

// All of the file, in as many attempts as it takes. Returns the bytes that came.
std::uint64_t fill(HubClient& hub, const BlobRequest& r, Incomplete& file) {
  std::uint64_t came = 0;
  for (int failed = 0; file.size() < r.facts.bytes;) {
    const std::uint64_t before = came;
    const HubClient::Part part = hub.fetch(r.repo, r.commit, r.file, r.facts, file.size(),
                                           [&](std::uint64_t offset, std::span<const std::byte> bytes) {
                                             if (offset == 0 && file.size() > 0) file.restart();
                                             file.append(bytes);
                                             came += bytes.size();
                                           });
    if (part.why.empty()) continue;
    failed = came - before >= progress_bytes ? 1 : failed + 1;
    const std::string what = r.repo + ": " + quote(r.file);
    const bool is_endless = came / most_times > r.facts.bytes;
    if (is_endless || !hub.wait_for_attempt(failed, part, what))
      fail_machine(
          "{}: {}{}", what, part.why,
          file.size() == 0
              ? ""
              : fmt::format("; the {} bytes that are there stay, and the same command goes on from them", file.size()));
  }
  return came;
}

FileLock locked(const BlobRequest& r) {
  FileLock lock;
  for (bool said = false; !lock.try_lock(r.lock); said = true) {
    if (!said) log_info("{}: another process is fetching {}; waiting for it", r.repo, quote(r.file));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (interrupted()) throw Interrupted{};
  }
  return lock;
}

}  // namespace

bool has_blob(const BlobRequest& request) {
  std::error_code error;
  return fs::is_regular_file(request.blob, error) && fs::file_size(request.blob, error) == request.facts.bytes;
}

std::uint64_t begun_bytes(const BlobRequest& request) {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(incomplete(request), error);
  return error || bytes > request.facts.bytes ? 0 : bytes;
}

std::uint64_t download_blob(HubClient& hub, const BlobRequest& request,
                            const std::function<void(std::uint64_t)>& progress) {
  const FileLock held = locked(request);
  if (has_blob(request)) return 0;
  Incomplete file(request, progress);
  const bool resumed = file.size() > 0;
  std::uint64_t came = fill(hub, request, file);
  std::string hash = file.hash();
  if (hash != request.facts.hash && resumed) {
    log_warning("{}: what an earlier attempt left of {} is damaged; fetching it anew", request.repo,
                quote(request.file));
    file.restart();
    came += fill(hub, request, file);
    hash = file.hash();
  }
  if (hash != request.facts.hash) {
    file.drop();
    fail_input("{}: {}: has {} {}, but the hub says {}; it was thrown away", request.repo, quote(request.file),
               kind_of(request.facts) == HashKind::sha1 ? "git's SHA-1" : "SHA-256", hash, request.facts.hash);
  }
  file.finish();
  return came;
}

}  // namespace ridge::io
