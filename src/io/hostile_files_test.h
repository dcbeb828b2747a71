// For tests: bytes put together field by field, so that each length and offset can be spoiled in turn; and a folder
// that goes away.
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace ridge::io {

class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "ridge-test-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline void write_bytes(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}
inline std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Field {
  std::size_t offset, width;
};

class Bytes {
 public:
  template <class T> Bytes& number(T v) {  // a length, count, offset, type or size: to be spoiled
    fields.push_back({text.size(), sizeof v});
    return plain(v);
  }
  template <class T> Bytes& plain(T v) {
    text.append(reinterpret_cast<const char*>(&v), sizeof v);
    return *this;
  }
  Bytes& string(std::string_view s) {
    number(std::uint64_t(s.size()));
    text += s;
    return *this;
  }
  Bytes& pad(std::size_t alignment) {
    text.append((alignment - text.size() % alignment) % alignment, '\0');
    return *this;
  }
  std::span<const std::byte> span() const { return std::as_bytes(std::span(text)); }

  std::string text;
  std::vector<Field> fields;
};

// Runs `read` on the bytes cut at every length, and with every field set to values that break careless sums. It may
// refuse (as the input's fault) or accept; anything else, a crash or another exception, fails the test. Returns how
// many were refused.
inline int spoil_everything(const Bytes& whole, const std::function<void(std::span<const std::byte>)>& read) {
  int refused = 0;
  const auto attempt = [&](std::string_view text) {
    const std::vector<char> exact(text.begin(), text.end());  // its own allocation: a sanitizer sees every step outside
    try {
      read(std::as_bytes(std::span(exact)));
    } catch (const Error& e) {
      EXPECT_EQ(e.fault(), Fault::input) << e.what();
      ++refused;
    }
  };
  for (std::size_t n = 0; n < whole.text.size(); ++n) attempt(std::string_view(whole.text).substr(0, n));
  for (const Field& f : whole.fields) {
    std::uint64_t old = 0;
    std::memcpy(&old, whole.text.data() + f.offset, f.width);
    for (std::uint64_t v :
         {std::uint64_t(0), std::uint64_t(1), ~std::uint64_t(0), ~std::uint64_t(0) >> 1, ~std::uint64_t(0) - 7,
          ~std::uint64_t(0) - 31, std::uint64_t(1) << 63, std::uint64_t(1) << 62, std::uint64_t(1) << 40,
          std::uint64_t(0xffffffff), std::uint64_t(0x7fffffff), std::uint64_t(0x80000000), old + 1, old - 1, old * 2}) {
      std::string text = whole.text;
      std::memcpy(text.data() + f.offset, &v, f.width);
      attempt(text);
    }
  }
  return refused;
}

// What the error says; fails the test when there is none, or when it is not the input's fault.
inline std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    EXPECT_EQ(e.fault(), Fault::input) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

#define EXPECT_HAS(text, part) EXPECT_NE(std::string(text).find(part), std::string::npos) << text

}  // namespace ridge::io
