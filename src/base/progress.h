// A progress bar on standard error, drawn at most ten times a second and only where that is a terminal (and the log is
// not quiet). All may be called from any thread, `advance` and `set` often; one bar at a time.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "base/format.h"

namespace ridge {

class Progress {
 public:
  // total 0: not known, the bar then counts only.
  Progress(std::string what, std::int64_t total, Unit unit = Unit::count);
  ~Progress();  // leaves no trace of the bar
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(std::int64_t amount = 1);
  void set(std::int64_t done);
  void say(std::string what);  // what is being done now

 private:
  void draw_if_due(std::int64_t done);

  std::string what_;
  std::int64_t total_;
  Unit unit_;
  bool visible_;
  std::atomic<std::int64_t> done_{0};
  std::atomic<std::int64_t> next_draw_ns_{0};
  std::chrono::steady_clock::time_point start_;
};

// The line itself, for a terminal `columns` wide: "probing  [███████·······]  46 %  3.1 s". elapsed in seconds.
std::string progress_line(const std::string& what, std::int64_t done, std::int64_t total, Unit unit, double elapsed,
                          int columns);

void clear_progress_line();  // before something else is written to the terminal; the bar comes back when next drawn

}  // namespace ridge
