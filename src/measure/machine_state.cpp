#include "measure/machine_state.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <string>

#include "hw/cpu.h"
#include "hw/small_file.h"
#include "measure/timer.h"

namespace ridge::measure {
namespace {

double own_processor_time() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) { return double(t.tv_sec) + double(t.tv_usec) * 1e-6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// proc(5), a "cpuN" line: user nice system idle iowait irq softirq steal guest guest_nice, in ticks. Guest time is part
// of user time already.
double busy_ticks(const std::string& line) {
  std::istringstream words(line);
  std::string name;
  words >> name;
  double busy = 0, ticks = 0;
  for (int field = 0; field < 8 && words >> ticks; ++field)
    if (field != 3 && field != 4) busy += ticks;
  return busy;
}

}  // namespace

LoadMark load_mark(const std::filesystem::path& proc_stat, std::span<const int> allowed) {
  LoadMark mark;
  mark.own_s = own_processor_time();
  mark.wall_s = steady_seconds();
  std::istringstream lines(hw::read_small_file(proc_stat));
  double ticks = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("cpu") || line.starts_with("cpu ")) continue;
    const auto cpu = hw::parse_int(line.substr(3, line.find(' ') - 3));
    if (!cpu || std::find(allowed.begin(), allowed.end(), *cpu) == allowed.end()) continue;
    ticks += busy_ticks(line);
    ++mark.cpus;
  }
  mark.busy_s = ticks / double(std::max(sysconf(_SC_CLK_TCK), 1L));
  return mark;
}

LoadMark load_mark() { return load_mark("/proc/stat", hw::cpu().allowed); }

std::optional<double> taken_by_others(const LoadMark& begin, const LoadMark& end) {
  const double available = (end.wall_s - begin.wall_s) * double(end.cpus);
  if (end.cpus == 0 || begin.cpus != end.cpus || available <= 0) return std::nullopt;
  const double others = (end.busy_s - begin.busy_s) - (end.own_s - begin.own_s);
  return std::clamp(others / available, 0.0, 1.0);
}

double clock_hertz() {
  constexpr int operations = 100'000, at_once = 10;
  double best = 0;
  for (int attempt = 0; attempt < 5; ++attempt) {
    std::uint64_t chain = std::uint64_t(attempt), other = 0x9e3779b97f4a7c15u;
    const Timer timer;
    for (int i = 0; i < operations / at_once; ++i) {
      // Of two registers: newer processors do additions of constants, and of a register with itself, on the way.
#if defined(__x86_64__)
      asm volatile(
          "xor %1, %0\n xor %1, %0\n xor %1, %0\n xor %1, %0\n xor %1, %0\n"
          "xor %1, %0\n xor %1, %0\n xor %1, %0\n xor %1, %0\n xor %1, %0\n"
          : "+r"(chain)
          : "r"(other));
#elif defined(__aarch64__)
      asm volatile(
          "eor %0, %0, %1\n eor %0, %0, %1\n eor %0, %0, %1\n eor %0, %0, %1\n eor %0, %0, %1\n"
          "eor %0, %0, %1\n eor %0, %0, %1\n eor %0, %0, %1\n eor %0, %0, %1\n eor %0, %0, %1\n"
          : "+r"(chain)
          : "r"(other));
#else
      for (int k = 0; k < at_once; ++k) {
        chain ^= other;
        asm volatile("" : "+r"(chain));
      }
#endif
    }
    best = std::max(best, double(operations) / timer.seconds());
  }
  return best;
}

}  // namespace ridge::measure
