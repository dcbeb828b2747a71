// A file being written under a temporary name beside its own, so that nobody takes half a file for a whole one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace ridge::io {

class OutputFile {
 public:
  // Creates PATH.part-PID beside PATH. Where PATH is there and is no regular file (/dev/stdout, a pipe), writes
  // straight into it.
  explicit OutputFile(const std::filesystem::path& path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();  // removes the temporary file when finish() was not reached

  void write(std::span<const std::byte> bytes);  // all of them; fails (machine) when the disk is full, and so on
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  void write_zeros(std::uint64_t count);
  std::uint64_t position() const { return position_; }
  const std::string& name() const { return name_; }

  // Closes the file and gives it its own name, replacing what was there.
  void finish();

 private:
  void flush();

  std::string name_, temporary_;  // temporary_ is empty when writing straight
  int descriptor_ = -1;
  std::uint64_t position_ = 0;
  std::string buffer_;  // small writes are gathered here
};

}  // namespace ridge::io
