// The one door for JSON from strangers: bounded in bytes, depth and number of values before anything is built, with
// errors that name file and byte offset. Include <nlohmann/json.hpp> (in a .cpp) to use what it returns.
//
// It is also the fast way to read a large object: nlohmann's own parser looks through all keys of an ordered object for
// each new one (minutes for a vocabulary of 150,000); this one appends.
#pragma once
#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace ridge::io {

enum class DuplicateKeys {
  refuse,     // where a second value could be meant to deceive: tensor lists, configs
  keep_last,  // as Python does
};

struct JsonLimits {
  std::size_t bytes = 16 << 20;
  std::size_t values = 2'000'000;  // numbers, strings, objects ... in all; each takes 16 bytes and more once built
  int depth = 64;
  DuplicateKeys duplicates = DuplicateKeys::refuse;
};

// Parses a whole text. Fails (input) naming `file` and the byte where it went wrong.
nlohmann::ordered_json parse_json(std::string_view text, std::string_view file, const JsonLimits& limits = {});

// Reads and parses a file; one that is larger than limits.bytes is refused unread.
nlohmann::ordered_json read_json(const std::filesystem::path& path, const JsonLimits& limits = {});

}  // namespace ridge::io
