// Messages to the person at the terminal, on standard error: never part of a verb's output.
#pragma once
#include <fmt/core.h>

#include <cstdint>
#include <string_view>

namespace ridge {

enum class LogLevel : std::uint8_t { debug, info, warning, error };

void set_log_level(LogLevel lowest);  // --verbose: debug; default: info; --quiet: error
LogLevel log_level();
void log_line(LogLevel level, std::string_view message);  // from any thread; one line, as one write

template <class... Args> void log_debug(fmt::format_string<Args...> format, Args&&... args) {
  if (log_level() <= LogLevel::debug) log_line(LogLevel::debug, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args> void log_info(fmt::format_string<Args...> format, Args&&... args) {
  if (log_level() <= LogLevel::info) log_line(LogLevel::info, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args> void log_warning(fmt::format_string<Args...> format, Args&&... args) {
  if (log_level() <= LogLevel::warning) log_line(LogLevel::warning, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args> void log_error(fmt::format_string<Args...> format, Args&&... args) {
  log_line(LogLevel::error, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace ridge
