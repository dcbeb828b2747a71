// Facts about this machine, as the kernel tells them. What it does not tell is empty, zero or "unknown", never guessed.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/report.h"
#include "hw/isa.h"

namespace ridge::hw {

struct Cache {
  int level = 0;
  std::string type;        // "Data", "Instruction", "Unified"
  std::int64_t bytes = 0;  // of one
  int instances = 0;       // how many of them the allowed processors have
  int shared_by = 0;       // logical processors on one of them
};

struct Cpu {
  std::string model = "unknown", vendor = "unknown", os = "unknown", kernel = "unknown";
  std::vector<int> allowed;          // logical processors this process may run on (affinity)
  std::optional<double> quota_cpus;  // processor time that the control group grants
  int physical_cores = 0;            // among the allowed ones: SMT siblings count once
  int sockets = 0, numa_nodes = 0;   // among the allowed ones
  std::vector<Cache> caches;         // by level
  std::int64_t memory_bytes = 0;
  std::optional<std::int64_t> memory_limit_bytes;  // of the control group, where below memory_bytes
  std::int64_t page_bytes = 0;
  std::string transparent_huge_pages = "unknown";  // "always", "madvise", "never"
  std::optional<double> max_hertz;                 // as cpufreq has it; virtual machines seldom say

  std::int64_t last_level_cache_bytes() const;  // of all instances together; 0: unknown
  std::int64_t usable_memory_bytes() const;     // the smaller of memory and limit
};

// `root` stands for "/" (tests bring their own); `allowed` for this process' affinity.
Cpu read_cpu(const std::filesystem::path& root, std::vector<int> allowed);
std::vector<int> affinity();
const Cpu& cpu();  // this machine, read once

// Threads to use unless the user says: one for each physical core that the affinity allows, but no more than the
// quota, rounded up. SMT siblings bring nothing to kernels that saturate a core's multipliers or its bandwidth.
int default_threads(const Cpu& cpu);
int default_threads();

std::int64_t available_memory_bytes();  // now, without swapping, below the control group's limit

// For a report's environment: ridge's version, date (UTC, seconds since 1970), processor, cores, isa, system, compiler.
// No host name, user name or path.
Section environment(std::int64_t now_s);
Section environment();

}  // namespace ridge::hw
