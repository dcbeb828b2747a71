#include "hw/cpu.h"

#include <gtest/gtest.h>

#include <fstream>

#include "hw/cgroup.h"
#include "hw/small_file.h"

namespace ridge::hw {
namespace {

namespace fs = std::filesystem;

// A root folder made of the files that a test names.
class FakeRoot {
 public:
  FakeRoot() {
    std::string name = fs::temp_directory_path() / "ridge_root_XXXXXX";
    path = mkdtemp(name.data());
  }
  ~FakeRoot() { fs::remove_all(path); }
  FakeRoot& file(const std::string& name, const std::string& text) {
    fs::create_directories((path / name).parent_path());
    std::ofstream(path / name) << text;
    return *this;
  }
  FakeRoot& core(int cpu, const std::string& siblings, int package = 0) {
    const std::string folder = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    file(folder + "core_cpus_list", siblings + "\n");
    return file(folder + "physical_package_id", std::to_string(package) + "\n");
  }
  FakeRoot& cache(int cpu, int index, int level, const std::string& type, const std::string& size,
                  const std::string& shared) {
    const std::string folder =
        "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache/index" + std::to_string(index) + "/";
    file(folder + "level", std::to_string(level) + "\n").file(folder + "type", type + "\n");
    return file(folder + "size", size + "\n").file(folder + "shared_cpu_list", shared + "\n");
  }
  fs::path path;
};

constexpr const char* v2_mount = "31 23 0:28 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char* v1_mounts =
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";

TEST(Cgroup, Version2TheTightestOfNestedGroupsCounts) {
  FakeRoot r;
  r.file("proc/self/cgroup", "0::/a/b\n").file("proc/self/mountinfo", v2_mount);
  r.file("sys/fs/cgroup/a/cpu.max", "150000 100000\n").file("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  r.file("sys/fs/cgroup/a/memory.max", "max\n").file("sys/fs/cgroup/a/b/memory.max", "1073741824\n");
  const CgroupLimits limits = cgroup_limits(r.path);
  EXPECT_EQ(limits.cpus, 1.5);
  EXPECT_EQ(limits.memory_bytes, 1 << 30);
}

TEST(Cgroup, Version2WithoutLimits) {
  FakeRoot r;
  r.file("proc/self/cgroup", "0::/\n").file("proc/self/mountinfo", v2_mount);
  r.file("sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_FALSE(cgroup_limits(r.path).cpus);
  EXPECT_FALSE(cgroup_limits(r.path).memory_bytes);
}

TEST(Cgroup, Version1) {
  FakeRoot r;
  r.file("proc/self/cgroup", "4:memory:/box\n2:cpu,cpuacct:/box\n1:name=systemd:/x\n")
      .file("proc/self/mountinfo", v1_mounts);
  r.file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n")
      .file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  r.file("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "250000\n");
  r.file("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us", "100000\n");
  r.file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(cgroup_limits(r.path).cpus, 2.5);
  EXPECT_FALSE(cgroup_limits(r.path).memory_bytes);  // that number is version 1's way to say "none"
  r.file("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "536870912\n");
  EXPECT_EQ(cgroup_limits(r.path).memory_bytes, 1 << 29);
}

TEST(Cgroup, AContainerSeesOnlyItsPartOfTheTree) {
  FakeRoot r;  // Docker, version 1 without a cgroup namespace: the mount's root is the container's group
  r.file("proc/self/cgroup", "2:cpu:/docker/abc\n");
  r.file("proc/self/mountinfo", "32 31 0:29 /docker/abc /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n");
  r.file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n").file("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_limits(r.path).cpus, 0.5);
  r.file("proc/self/cgroup", "2:cpu:/elsewhere\n");  // the group's path lies outside the mount
  EXPECT_EQ(cgroup_limits(r.path).cpus, 0.5);
}

TEST(Cgroup, MixedLayoutAndEscapedMountPoint) {
  FakeRoot r;
  r.file("proc/self/cgroup", "2:cpu:/\n0::/g\n");
  r.file(
      "proc/self/mountinfo",
      "32 31 0:29 / /sys/my\\040cpu rw - cgroup cgroup rw,cpu\n41 31 0:38 / /sys/unified rw shared:9 - cgroup2 x rw\n");
  r.file("sys/my cpu/cpu.cfs_quota_us", "300000\n").file("sys/my cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_limits(r.path).cpus, 3.0);
  r.file("sys/unified/g/cpu.max", "200000 100000\n");
  EXPECT_EQ(cgroup_limits(r.path).cpus, 2.0);
}

TEST(Cgroup, NonsenseLimitsNothing) {
  FakeRoot r;
  EXPECT_FALSE(cgroup_limits(r.path).cpus);  // no files at all
  r.file("proc/self/cgroup", "::\n0:\n\n0::/../../etc\n")
      .file("proc/self/mountinfo", std::string("x\n - \n") + v2_mount);
  r.file("sys/fs/cgroup/cpu.max", "100000 0\n");
  EXPECT_FALSE(cgroup_limits(r.path).cpus);
  r.file("sys/fs/cgroup/cpu.max", "99999999999999999999 100000\n");
  EXPECT_FALSE(cgroup_limits(r.path).cpus);
  r.file("sys/fs/cgroup/cpu.max", "12 bananas\n");
  EXPECT_FALSE(cgroup_limits(r.path).cpus);
}

TEST(SmallFile, Lists) {
  EXPECT_EQ(parse_cpu_list("0-2,8"), (std::vector<int>{0, 1, 2, 8}));
  EXPECT_EQ(parse_cpu_list(""), std::vector<int>{});
  EXPECT_EQ(parse_cpu_list("3-1"), std::vector<int>{});
  EXPECT_EQ(parse_cpu_list("0-99999999999"), std::vector<int>{});
  EXPECT_EQ(parse_size("32768K"), 32 << 20);
  EXPECT_EQ(parse_size("9223372036854775807K"), std::nullopt);
  EXPECT_EQ(parse_size("K"), std::nullopt);
}

FakeRoot& two_sockets(FakeRoot& r) {  // two sockets of two cores of two threads
  for (int cpu = 0; cpu < 8; ++cpu) {
    const int core = cpu % 4, package = core / 2;
    r.core(cpu, std::to_string(core) + "," + std::to_string(core + 4), package);
    r.cache(cpu, 0, 1, "Data", "48K", std::to_string(core) + "," + std::to_string(core + 4));
    r.cache(cpu, 1, 1, "Instruction", "32K", std::to_string(core) + "," + std::to_string(core + 4));
    r.cache(cpu, 2, 3, "Unified", "32768K", package ? "2-3,6-7" : "0-1,4-5");
  }
  r.file("sys/devices/system/node/node0/cpulist", "0-1,4-5\n")
      .file("sys/devices/system/node/node1/cpulist", "2-3,6-7\n");
  r.file("proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel\t\t: 2\nmodel name\t: AMD EPYC 9999\n");
  r.file("proc/meminfo", "MemTotal:       24684416 kB\nMemFree: 1 kB\n");
  r.file("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  r.file("etc/os-release", "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nNAME=\"x\"\n");
  return r;
}

TEST(Cpu, CountsCoresSocketsNodesAndCaches) {
  FakeRoot r;
  const Cpu all = read_cpu(two_sockets(r).path, {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(all.model, "AMD EPYC 9999");
  EXPECT_EQ(all.vendor, "AuthenticAMD");
  EXPECT_EQ(all.os, "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(all.physical_cores, 4);
  EXPECT_EQ(all.sockets, 2);
  EXPECT_EQ(all.numa_nodes, 2);
  EXPECT_EQ(all.last_level_cache_bytes(), 64 << 20);
  ASSERT_EQ(all.caches.size(), 3u);
  EXPECT_EQ(all.caches[0].bytes, 48 << 10);
  EXPECT_EQ(all.caches[0].instances, 4);
  EXPECT_EQ(all.caches[0].shared_by, 2);
  EXPECT_EQ(all.memory_bytes, std::int64_t(24684416) * 1024);
  EXPECT_EQ(all.transparent_huge_pages, "madvise");
  EXPECT_EQ(default_threads(all), 4);
}

TEST(Cpu, AffinityAndQuotaBoundTheThreads) {
  FakeRoot r;
  two_sockets(r);
  const Cpu siblings = read_cpu(r.path, {0, 4});
  EXPECT_EQ(siblings.physical_cores, 1);  // two threads of one core
  EXPECT_EQ(default_threads(siblings), 1);
  EXPECT_EQ(siblings.last_level_cache_bytes(), 32 << 20);
  EXPECT_EQ(siblings.numa_nodes, 1);
  r.file("proc/self/cgroup", "0::/\n").file("proc/self/mountinfo", v2_mount);
  const std::vector<int> all = {0, 1, 2, 3, 4, 5, 6, 7};
  r.file("sys/fs/cgroup/cpu.max", "250000 100000\n");
  EXPECT_EQ(default_threads(read_cpu(r.path, all)), 3);  // 2.5 rounded up
  r.file("sys/fs/cgroup/cpu.max", "10000 100000\n");
  EXPECT_EQ(default_threads(read_cpu(r.path, all)), 1);
  r.file("sys/fs/cgroup/cpu.max", "6400000 100000\n");
  EXPECT_EQ(default_threads(read_cpu(r.path, all)), 4);
  r.file("sys/fs/cgroup/memory.max", "1073741824\n");
  EXPECT_EQ(read_cpu(r.path, all).usable_memory_bytes(), 1 << 30);
}

TEST(Cpu, AnEmptyMachineIsUnknownAndStillUsable) {
  FakeRoot r;
  const Cpu c = read_cpu(r.path, {0, 1, 2});
  EXPECT_EQ(c.model, "unknown");
  EXPECT_EQ(c.physical_cores, 3);
  EXPECT_EQ(c.numa_nodes, 1);
  EXPECT_EQ(c.last_level_cache_bytes(), 0);
  EXPECT_FALSE(c.quota_cpus);
  EXPECT_EQ(default_threads(c), 3);
}

TEST(Cpu, ThisMachine) {
  EXPECT_FALSE(cpu().allowed.empty());
  EXPECT_GE(default_threads(), 1);
  EXPECT_LE(default_threads(), int(cpu().allowed.size()));
  EXPECT_GT(cpu().memory_bytes, 0);
  EXPECT_GT(available_memory_bytes(), 0);
  EXPECT_LE(available_memory_bytes(), cpu().memory_bytes);
  const Section e = environment(0);
  EXPECT_EQ(std::get<std::string>(e.fields[1].value.value), "1970-01-01T00:00:00Z");
}

}  // namespace
}  // namespace ridge::hw
