// A file mapped into memory for reading. Nothing is allocated in proportion to its size: a sparse file that claims
// terabytes costs address space only.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace ridge::io {

class MappedFile {
 public:
  // Maps the whole of a regular file; symbolic links are followed. Fails (input) on a missing file, a folder, a device
  // or a pipe, and (machine) when the address space has no room for it.
  explicit MappedFile(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  const std::string& name() const { return name_; }  // the path as given, for messages
  std::uint64_t size() const { return size_; }
  std::span<const std::byte> bytes() const { return {data_, std::size_t(size_)}; }

  // `length` bytes from `offset`; fails, naming `what`, where the file ends before.
  std::span<const std::byte> subspan(std::uint64_t offset, std::uint64_t length, std::string_view what) const;

  // Lets go of the memory behind a part of the mapping; it is read from the file again if touched again. Weights are
  // repacked when they are loaded, and the pages they came from must not stay resident.
  void release(std::span<const std::byte> range) const;

  // Fails when the file has become shorter since it was mapped: reading past its end would be a SIGBUS. A file that was
  // replaced by another of the same name is still mapped whole. No descriptor is kept: models have hundreds of files.
  void check_length() const;

 private:
  void unmap();

  std::string name_;
  const std::byte* data_ = nullptr;
  std::uint64_t size_ = 0;
  std::uint64_t device_ = 0, inode_ = 0;
};

}  // namespace ridge::io
