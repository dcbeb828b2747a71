// SHA-1 and SHA-256 of bytes that come piece by piece.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace ridge::io {

enum class HashKind : std::uint8_t { sha1, sha256 };

class Hasher {
 public:
  explicit Hasher(HashKind kind);
  void add(std::span<const std::byte> bytes);
  void add(std::string_view text) { add(std::as_bytes(std::span(text))); }
  std::string hex();  // of all that was added, in lower case; ends it

 private:
  std::shared_ptr<evp_md_ctx_st> context_;
};

}  // namespace ridge::io
