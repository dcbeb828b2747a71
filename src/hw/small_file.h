// Reading the one-line files of /proc and /sys. A file that is missing or odd is empty or nothing, never an error: the
// facts it would have told stay unknown.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ridge::hw {

std::string read_small_file(const std::filesystem::path& path);  // at most 4 MiB, without the last newline
std::optional<std::int64_t> parse_int(std::string_view text);    // all of it, or nothing
std::optional<std::int64_t> read_int(const std::filesystem::path& path);
std::optional<std::int64_t> parse_size(std::string_view text);   // "32768K", "96M", "1024"
std::vector<std::string> split(std::string_view text, char at);  // "" -> none
std::vector<int> parse_cpu_list(std::string_view text);          // "0-3,8" -> 0 1 2 3 8; nonsense -> none

}  // namespace ridge::hw
