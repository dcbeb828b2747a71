// The environment block of every report.
#include <ctime>

#include "hw/cpu.h"

namespace ridge::hw {
namespace {

std::string utc(std::int64_t now_s) {
  const std::time_t time = std::time_t(now_s);
  std::tm parts{};
  char text[32];
  if (!gmtime_r(&time, &parts) || !std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)) return "unknown";
  return text;
}

constexpr const char* compiler =
#if defined(__clang__)
    "clang " __clang_version__;
#elif defined(__GNUC__)
    "gcc " __VERSION__;
#else
    "unknown";
#endif

}  // namespace

Section environment(std::int64_t now_s) {
  const Cpu& c = cpu();
  Section s{"environment", "", {}};
  s.add("ridge", "ridge", RIDGE_VERSION).add("date", "date", utc(now_s)).add("cpu", "processor", c.model);
  s.add("cores", "cores", c.physical_cores).add("logical_cpus", "logical processors", c.allowed.size());
  s.add("quota_cpus", "quota", c.quota_cpus).add("isa", "instruction sets", isa().text());
  s.add("forbidden", "forbidden", forbidden());
  s.add("last_level_cache_bytes", "last-level cache", c.last_level_cache_bytes(), Unit::bytes);
  s.add("memory_bytes", "memory", c.usable_memory_bytes(), Unit::bytes);
  s.add("os", "system", c.os).add("kernel", "kernel", c.kernel).add("compiler", "compiler", compiler);
  return s;
}

Section environment() { return environment(std::int64_t(std::time(nullptr))); }

}  // namespace ridge::hw
