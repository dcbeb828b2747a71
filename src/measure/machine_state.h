// Whether the machine was fit to be measured: what others took of its processors, and at what clock it ran.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

namespace ridge::measure {

struct LoadMark {     // a moment
  double busy_s = 0;  // processor time spent on the allowed processors so far, by anyone, stolen time included
  double own_s = 0;   // by this process
  double wall_s = 0;  // a steady clock
  int cpus = 0;       // how many allowed processors were found; 0: the kernel does not tell
};

LoadMark load_mark();
LoadMark load_mark(const std::filesystem::path& proc_stat, std::span<const int> allowed);  // for tests

// The part of the allowed processors' time that others took between two moments, 0 to 1; nothing where the kernel does
// not tell. The kernel counts in hundredths of a second: moments closer than 0.1 s say little.
std::optional<double> taken_by_others(const LoadMark& begin, const LoadMark& end);

// The clock of the core this runs on, now, in Hz: a chain of exclusive ors that depend on each other takes one cycle
// each. Takes about 0.2 ms. The best of a few tries, since being interrupted only makes it look slower.
double clock_hertz();

}  // namespace ridge::measure
