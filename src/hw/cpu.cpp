#include "hw/cpu.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "hw/cgroup.h"
#include "hw/small_file.h"

namespace ridge::hw {
namespace {

namespace fs = std::filesystem;

// The value of a "key : value" or "KEY=value" line.
std::string value_of(const std::string& text, std::string_view key, char separator) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find(separator);
    if (at == std::string::npos || !line.starts_with(key)) continue;
    if (line.find_last_not_of(" \t", at - 1) + 1 != key.size()) continue;
    const std::size_t begin = line.find_first_not_of(" \t\"", at + 1);
    const std::size_t end = line.find_last_not_of(" \t\"\r");
    return begin == std::string::npos ? "" : line.substr(begin, end - begin + 1);
  }
  return "";
}

void set_if(std::string& field, const std::string& value) {
  if (!value.empty()) field = value;
}

bool shares(const std::vector<int>& a, const std::vector<int>& b) {
  return std::any_of(a.begin(), a.end(), [&](int x) { return std::find(b.begin(), b.end(), x) != b.end(); });
}

void read_topology(const fs::path& system, Cpu& cpu) {
  std::set<std::string> cores, packages;
  for (int n : cpu.allowed) {
    const fs::path topology = system / ("cpu/cpu" + std::to_string(n)) / "topology";
    std::string core = read_small_file(topology / "core_cpus_list");
    if (core.empty()) core = read_small_file(topology / "thread_siblings_list");  // the name before Linux 5.3
    cores.insert(core.empty() ? "cpu " + std::to_string(n) : core);
    packages.insert(read_small_file(topology / "physical_package_id"));
  }
  cpu.physical_cores = int(cores.size());
  cpu.sockets = int(packages.size());
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(system / "node", ignored)) {
    if (!entry.path().filename().string().starts_with("node")) continue;
    if (shares(parse_cpu_list(read_small_file(entry.path() / "cpulist")), cpu.allowed)) ++cpu.numa_nodes;
  }
  cpu.numa_nodes = std::max(cpu.numa_nodes, 1);
}

void read_caches(const fs::path& system, Cpu& cpu) {
  std::map<std::string, Cache> found;  // by level, type and who shares it
  for (int n : cpu.allowed) {
    for (int index = 0; index < 16; ++index) {
      const fs::path folder = system / ("cpu/cpu" + std::to_string(n)) / "cache" / ("index" + std::to_string(index));
      const auto level = read_int(folder / "level");
      const auto bytes = parse_size(read_small_file(folder / "size"));
      if (!level || !bytes) break;
      const std::string type = read_small_file(folder / "type"), shared = read_small_file(folder / "shared_cpu_list");
      const int sharers = std::max(int(parse_cpu_list(shared).size()), 1);
      found.emplace(std::to_string(*level) + type + shared, Cache{int(*level), type, *bytes, 1, sharers});
    }
  }
  for (const auto& entry : found) {
    const Cache& cache = entry.second;  // clang 14 cannot capture a structured binding
    const auto same = std::find_if(cpu.caches.begin(), cpu.caches.end(), [&](const Cache& c) {
      return c.level == cache.level && c.type == cache.type && c.bytes == cache.bytes && c.shared_by == cache.shared_by;
    });
    if (same != cpu.caches.end()) ++same->instances;
    else cpu.caches.push_back(cache);
  }
}

void read_caches_of_processor(Cpu& cpu) {  // some virtual machines hide caches from /sys but not from CPUID
  const auto add = [&](int level, const char* type, int name, int shared) {
    const long bytes = sysconf(name);
    if (bytes > 0) cpu.caches.push_back({level, type, bytes, shared ? 1 : std::max(cpu.physical_cores, 1), shared});
  };
  add(1, "Data", _SC_LEVEL1_DCACHE_SIZE, 0);
  add(2, "Unified", _SC_LEVEL2_CACHE_SIZE, 0);
  add(3, "Unified", _SC_LEVEL3_CACHE_SIZE, int(cpu.allowed.size()));
}

std::string chosen_in_brackets(const std::string& text) {  // "always [madvise] never"
  const std::size_t open = text.find('['), close = text.find(']');
  return open == std::string::npos || close == std::string::npos ? "" : text.substr(open + 1, close - open - 1);
}

std::optional<std::int64_t> kib(const std::string& text) {  // "24684416 kB"
  const auto value = parse_int(std::string_view(text).substr(0, text.find(' ')));
  if (!value || *value < 0 || *value > INT64_MAX / 1024) return std::nullopt;
  return *value * 1024;
}

}  // namespace

std::int64_t Cpu::last_level_cache_bytes() const {
  int level = 0;
  for (const Cache& c : caches)
    if (c.type != "Instruction") level = std::max(level, c.level);
  std::int64_t bytes = 0;
  for (const Cache& c : caches)
    if (c.level == level && c.type != "Instruction") bytes += c.bytes * c.instances;
  return bytes;
}

std::int64_t Cpu::usable_memory_bytes() const {
  return memory_limit_bytes ? std::min(*memory_limit_bytes, memory_bytes) : memory_bytes;
}

std::vector<int> affinity() {
  // Machines with more processors than a cpu_set_t holds (1024) refuse it with EINVAL: ask with larger ones.
  for (int most = 1024; most <= 1 << 16; most *= 4) {
    cpu_set_t* set = CPU_ALLOC(most);
    const std::size_t size = CPU_ALLOC_SIZE(most);
    CPU_ZERO_S(size, set);
    std::vector<int> out;
    if (sched_getaffinity(0, size, set) == 0)
      for (int n = 0; n < most; ++n)
        if (CPU_ISSET_S(n, size, set)) out.push_back(n);
    CPU_FREE(set);
    if (!out.empty()) return out;
  }
  return {0};
}

Cpu read_cpu(const fs::path& root, std::vector<int> allowed) {
  Cpu cpu;
  cpu.allowed = std::move(allowed);
  const std::string info = read_small_file(root / "proc/cpuinfo");
  set_if(cpu.model, value_of(info, "model name", ':'));
  set_if(cpu.vendor, value_of(info, "vendor_id", ':'));
  set_if(cpu.os, value_of(read_small_file(root / "etc/os-release"), "PRETTY_NAME", '='));
  set_if(cpu.kernel, read_small_file(root / "proc/sys/kernel/osrelease"));
  const fs::path system = root / "sys/devices/system";
  read_topology(system, cpu);
  read_caches(system, cpu);
  cpu.memory_bytes = kib(value_of(read_small_file(root / "proc/meminfo"), "MemTotal", ':')).value_or(0);
  const CgroupLimits limits = cgroup_limits(root);
  cpu.quota_cpus = limits.cpus;
  if (limits.memory_bytes && *limits.memory_bytes < cpu.memory_bytes) cpu.memory_limit_bytes = limits.memory_bytes;
  cpu.page_bytes = sysconf(_SC_PAGESIZE);
  set_if(cpu.transparent_huge_pages,
         chosen_in_brackets(read_small_file(root / "sys/kernel/mm/transparent_hugepage/enabled")));
  const int first = cpu.allowed.empty() ? 0 : cpu.allowed[0];
  const auto khz = read_int(system / ("cpu/cpu" + std::to_string(first)) / "cpufreq/cpuinfo_max_freq");
  if (khz && *khz > 0) cpu.max_hertz = double(*khz) * 1e3;
  return cpu;
}

const Cpu& cpu() {
  static const Cpu found = [] {
    Cpu c = read_cpu("/", affinity());
    if (c.caches.empty()) read_caches_of_processor(c);
    return c;
  }();
  return found;
}

int default_threads(const Cpu& cpu) {
  int threads = std::max(cpu.physical_cores, 1);
  if (cpu.quota_cpus) threads = std::min(threads, std::max(int(std::ceil(std::min(*cpu.quota_cpus, 1e6))), 1));
  return threads;
}

int default_threads() { return default_threads(cpu()); }

std::int64_t available_memory_bytes() {
  const auto available = kib(value_of(read_small_file("/proc/meminfo"), "MemAvailable", ':'));
  const std::int64_t bytes = available.value_or(cpu().memory_bytes);
  return cpu().memory_limit_bytes ? std::min(bytes, *cpu().memory_limit_bytes) : bytes;
}

}  // namespace ridge::hw
