// Hashes for the tokenizer's tables. Files from strangers choose what is put in: the tables bound their probes.
#pragma once
#include <cstdint>
#include <cstring>
#include <string_view>

namespace ridge::text {

inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// Two overlapping loads cover what eight bytes do not divide; the length keeps different texts apart.
inline std::uint64_t hash_of(std::string_view text) {
  constexpr std::uint64_t k0 = 0x9E3779B97F4A7C15u, k1 = 0xD6E8FEB86659FD93u, k2 = 0xA0761D6478BD642Fu;
  const char* p = text.data();
  const std::size_t n = text.size();
  const auto load8 = [](const char* at) {
    std::uint64_t v;
    std::memcpy(&v, at, 8);
    return v;
  };
  const auto load4 = [](const char* at) {
    std::uint32_t v;
    std::memcpy(&v, at, 4);
    return static_cast<std::uint64_t>(v);
  };
  std::uint64_t a = 0, b = 0, h = k0 ^ n;
  if (n > 16) {
    for (std::size_t i = 0; i + 16 < n; i += 16) h = mix(h ^ load8(p + i), k1 ^ load8(p + i + 8));
    a = load8(p + n - 16);
    b = load8(p + n - 8);
  } else if (n >= 8) {
    a = load8(p);
    b = load8(p + n - 8);
  } else if (n >= 4) {
    a = load4(p);
    b = load4(p + n - 4);
  } else if (n > 0) {
    a = static_cast<unsigned char>(p[0]) | static_cast<std::uint64_t>(static_cast<unsigned char>(p[n / 2])) << 8 |
        static_cast<std::uint64_t>(static_cast<unsigned char>(p[n - 1])) << 16;
  }
  return mix(mix(h ^ a, k1 ^ b), k2);
}

inline std::uint64_t hash_of(std::uint64_t key) { return mix(key ^ 0x9E3779B97F4A7C15u, 0xD6E8FEB86659FD93u); }

}  // namespace ridge::text
