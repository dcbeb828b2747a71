#include "base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>

#include "base/format.h"
#include "base/progress.h"

namespace ridge {
namespace {

std::atomic<LogLevel> lowest_shown{LogLevel::info};

spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> made = [] {
    auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
    auto log = std::make_shared<spdlog::logger>("ridge", sink);
    log->set_pattern("%^%v%$");  // the message says what it is; a level in words only where it matters, below
    log->set_level(spdlog::level::trace);
    return log;
  }();
  return *made;
}

}  // namespace

void set_log_level(LogLevel lowest) { lowest_shown = lowest; }
LogLevel log_level() { return lowest_shown; }

void log_line(LogLevel level, std::string_view message) {
  if (level < lowest_shown.load(std::memory_order_relaxed)) return;
  clear_progress_line();
  const std::string text = printable(message);
  switch (level) {
    case LogLevel::debug: return logger().debug("{}", text);
    case LogLevel::info: return logger().info("{}", text);
    case LogLevel::warning: return logger().warn("warning: {}", text);
    case LogLevel::error: return logger().error("error: {}", text);
  }
}

}  // namespace ridge
