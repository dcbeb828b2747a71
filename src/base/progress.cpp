#include "base/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <mutex>

#include "base/log.h"

namespace ridge {
namespace {

constexpr std::int64_t draw_every_ns = 100'000'000;
std::mutex terminal;  // guards `drawn`, what a bar says, and what is written
bool drawn = false;   // a bar is on the terminal's last line

int terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

std::string progress_line(const std::string& what, std::int64_t done, std::int64_t total, Unit unit, double elapsed,
                          int columns) {
  std::string tail = format_quantity(double(done), unit);
  if (total > 0) {
    const double fraction = double(std::min(done, total)) / double(total);
    tail += fmt::format(" of {}  {}", format_quantity(double(total), unit), format_quantity(fraction, Unit::fraction));
  }
  tail += "  " + format_seconds(elapsed);
  const int room = std::min(columns - display_width(what) - display_width(tail) - 7, 30);
  std::string bar;
  if (total > 0 && room >= 4) {
    const int full = int(double(room) * double(std::clamp<std::int64_t>(done, 0, total)) / double(total));
    bar = "  [";
    for (int i = 0; i < room; ++i) bar += i < full ? "█" : "·";
    bar += "]";
  }
  return what + bar + "  " + tail;
}

void clear_progress_line() {
  const std::lock_guard lock(terminal);
  if (!drawn) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  drawn = false;
}

Progress::Progress(std::string what, std::int64_t total, Unit unit)
    : what_(std::move(what)),
      total_(total),
      unit_(unit),
      visible_(isatty(STDERR_FILENO) && log_level() < LogLevel::error),
      start_(std::chrono::steady_clock::now()) {}

Progress::~Progress() { clear_progress_line(); }

void Progress::advance(std::int64_t amount) {
  draw_if_due(done_.fetch_add(amount, std::memory_order_relaxed) + amount);
}

void Progress::set(std::int64_t done) {
  done_.store(done, std::memory_order_relaxed);
  draw_if_due(done);
}

void Progress::say(std::string what) {
  {
    const std::lock_guard lock(terminal);
    what_ = std::move(what);
  }
  next_draw_ns_ = 0;
  draw_if_due(done_.load(std::memory_order_relaxed));
}

void Progress::draw_if_due(std::int64_t done) {
  if (!visible_) return;
  const std::int64_t now = (std::chrono::steady_clock::now() - start_).count();
  std::int64_t due = next_draw_ns_.load(std::memory_order_relaxed);
  if (now < due || !next_draw_ns_.compare_exchange_strong(due, now + draw_every_ns)) return;  // one thread draws
  const std::lock_guard lock(terminal);
  const std::string line = progress_line(what_, done, total_, unit_, double(now) * 1e-9, terminal_columns());
  std::fprintf(stderr, "\r\x1b[K%s", line.c_str());
  std::fflush(stderr);
  drawn = true;
}

}  // namespace ridge
