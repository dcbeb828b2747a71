// What the control group of this process allows: processor time and memory. Both versions of cgroups, nested groups
// (the tightest limit counts), and the mixed layouts that containers have.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>

namespace ridge::hw {

struct CgroupLimits {
  std::optional<double> cpus;  // quota / period: 1.5 is one and a half processors
  std::optional<std::int64_t> memory_bytes;
};

// Reads root/proc/self/{cgroup,mountinfo} and the files that they lead to, below root. What cannot be read limits
// nothing.
CgroupLimits cgroup_limits(const std::filesystem::path& root = "/");

}  // namespace ridge::hw
