#include "hw/small_file.h"

#include <charconv>
#include <fstream>

namespace ridge::hw {

std::string read_small_file(const std::filesystem::path& path) {
  constexpr std::size_t most = 4 << 20;
  std::ifstream in(path, std::ios::binary);
  std::string text;
  char buffer[4096];
  while (text.size() < most && (in.read(buffer, sizeof buffer), in.gcount() > 0))
    text.append(buffer, std::size_t(in.gcount()));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\0')) text.pop_back();
  return text;
}

std::optional<std::int64_t> parse_int(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> read_int(const std::filesystem::path& path) { return parse_int(read_small_file(path)); }

std::optional<std::int64_t> parse_size(std::string_view text) {
  int shift = 0;
  if (text.ends_with('K')) shift = 10;
  if (text.ends_with('M')) shift = 20;
  if (text.ends_with('G')) shift = 30;
  if (shift) text.remove_suffix(1);
  const auto value = parse_int(text);
  if (!value || *value < 0 || *value > (INT64_MAX >> shift)) return std::nullopt;
  return *value << shift;
}

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(at), text.size());
    if (end > 0) out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::vector<int> parse_cpu_list(std::string_view text) {
  constexpr std::int64_t most = 1 << 16;
  std::vector<int> out;
  for (const std::string& part : split(text, ',')) {
    const std::size_t dash = part.find('-');
    const auto first = parse_int(std::string_view(part).substr(0, dash));
    const auto last = dash == std::string::npos ? first : parse_int(std::string_view(part).substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= most) return {};
    for (std::int64_t cpu = *first; cpu <= *last; ++cpu) out.push_back(int(cpu));
  }
  return out;
}

}  // namespace ridge::hw
