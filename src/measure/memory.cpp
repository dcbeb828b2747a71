#include "measure/memory.h"

#include <fstream>
#include <sstream>
#include <string>

#include "hw/small_file.h"

namespace ridge::measure {
namespace {

std::optional<std::int64_t> status_kib(const std::string& key) {  // "VmHWM:	   10040 kB"
  std::istringstream lines(hw::read_small_file("/proc/self/status"));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t begin = line.find_first_of("0123456789"), end = line.find(" kB");
    if (begin == std::string::npos || end == std::string::npos || end < begin) return std::nullopt;
    const auto kib = hw::parse_int(line.substr(begin, end - begin));
    return kib ? std::optional(*kib * 1024) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> peak_memory_bytes() { return status_kib("VmHWM:"); }
std::optional<std::int64_t> resident_memory_bytes() { return status_kib("VmRSS:"); }

bool reset_peak_memory() {  // proc(5): 5 in clear_refs
  std::ofstream out("/proc/self/clear_refs");
  return bool(out << "5" << std::flush);
}

}  // namespace ridge::measure
