#include "hw/cgroup.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "hw/small_file.h"

namespace ridge::hw {
namespace {

namespace fs = std::filesystem;

struct Membership {                      // a line of /proc/self/cgroup
  std::vector<std::string> controllers;  // empty: version 2
  std::string path;
};

struct Mount {  // a line of /proc/self/mountinfo
  std::string root, point, type;
  std::vector<std::string> options;
};

std::vector<Membership> memberships(const fs::path& root) {
  std::vector<Membership> out;
  std::istringstream lines(read_small_file(root / "proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    out.push_back({split(line.substr(first + 1, second - first - 1), ','), line.substr(second + 1)});
  }
  return out;
}

std::string unescape(const std::string& text) {  // mountinfo writes a space as \040
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto octal = [&](std::size_t k) { return k < text.size() && text[k] >= '0' && text[k] <= '7'; };
    if (text[i] == '\\' && octal(i + 1) && octal(i + 2) && octal(i + 3)) {
      out += char((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

// proc(5): id parent major:minor root point options [tags…] - type source super-options
std::vector<Mount> mounts(const fs::path& root) {
  std::vector<Mount> out;
  std::istringstream lines(read_small_file(root / "proc/self/mountinfo"));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    const auto before = split(line.substr(0, dash), ' '), after = split(line.substr(dash + 3), ' ');
    if (before.size() < 5 || after.size() < 3) continue;
    out.push_back({unescape(before[3]), unescape(before[4]), after[0], split(after[2], ',')});
  }
  return out;
}

bool contains(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// The group's folder and its parents up to the mount, as paths below `root`. A mount may show only a part of the tree
// (its root), and in a container the group's path may lie outside it: the mount point itself is then all there is.
std::vector<fs::path> folders(const fs::path& root, const Mount& mount, const std::string& group) {
  std::string inside = group;
  if (mount.root != "/") inside = group.starts_with(mount.root) ? group.substr(mount.root.size()) : "";
  const fs::path top = root / fs::path(mount.point).relative_path();
  std::vector<fs::path> out = {top};
  for (const fs::path& part : fs::path(inside).relative_path()) {
    if (part == "..") return {top};
    if (!part.empty() && part != ".") out.push_back(out.back() / part);
  }
  return out;
}

template <class T> void tighten(std::optional<T>& limit, std::optional<T> other) {
  if (other && (!limit || *other < *limit)) limit = other;
}

std::optional<double> ratio(std::optional<std::int64_t> quota, std::optional<std::int64_t> period) {
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;  // version 1 writes -1 for none
  return double(*quota) / double(*period);
}

void read_version_2(const fs::path& folder, CgroupLimits& limits) {
  const auto words = split(read_small_file(folder / "cpu.max"), ' ');  // "max 100000" or "150000 100000"
  if (words.size() >= 2) tighten(limits.cpus, ratio(parse_int(words[0]), parse_int(words[1])));
  tighten(limits.memory_bytes, read_int(folder / "memory.max"));
}

void read_version_1(const fs::path& folder, const std::vector<std::string>& controllers, CgroupLimits& limits) {
  if (contains(controllers, "cpu"))
    tighten(limits.cpus, ratio(read_int(folder / "cpu.cfs_quota_us"), read_int(folder / "cpu.cfs_period_us")));
  if (!contains(controllers, "memory")) return;
  constexpr std::int64_t no_limit = std::int64_t(1) << 60;  // version 1 writes the largest multiple of a page
  const auto bytes = read_int(folder / "memory.limit_in_bytes");
  if (bytes && *bytes > 0 && *bytes < no_limit) tighten(limits.memory_bytes, bytes);
}

}  // namespace

CgroupLimits cgroup_limits(const fs::path& root) {
  CgroupLimits limits;
  const auto all_mounts = mounts(root);
  for (const Membership& member : memberships(root)) {
    for (const Mount& mount : all_mounts) {
      const bool version_2 = member.controllers.empty() && mount.type == "cgroup2";
      const bool version_1 =
          !member.controllers.empty() && mount.type == "cgroup" && contains(mount.options, member.controllers[0]);
      if (!version_1 && !version_2) continue;
      for (const fs::path& folder : folders(root, mount, member.path)) {
        if (version_2) read_version_2(folder, limits);
        else read_version_1(folder, member.controllers, limits);
      }
    }
  }
  return limits;
}

}  // namespace ridge::hw
