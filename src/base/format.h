// How ridge writes quantities for people: one spelling of every unit, three significant digits unless a count is
// exact, thousands parted by a thin space. Values are in base units: bytes, seconds, FLOP, fractions of 1.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace ridge {

enum class Unit : std::uint8_t {
  none,          // text, yes/no, or a plain number: 24.1
  count,         // exact: 98 362 432
  bytes,         // 171 MiB (1024s, as memory and files are spoken of)
  bytes_per_s,   // 24.1 GB/s (1000s, as datasheets have it)
  flop,          // 1.23 GFLOP
  flop_per_s,    // 989 TFLOP/s
  op,            // 1.23 GOP: integer operations, a multiply-add is two
  op_per_s,      // 204 GOP/s
  seconds,       // 0.31 s, 4.2 ms, 17 µs
  fraction,      // 63 %
  tokens_per_s,  // 1 180 tok/s
  ratio,         // 1.52×
  hertz,         // 2.6 GHz
  watts,         // 700 W
};

std::string format_quantity(double value, Unit unit);  // "–" for NaN
std::string format_count(std::int64_t value);
std::string format_significant(double value, int digits = 3);
inline std::string format_bytes(double bytes) { return format_quantity(bytes, Unit::bytes); }
inline std::string format_seconds(double seconds) { return format_quantity(seconds, Unit::seconds); }

// Text that is safe to show: control characters (a file's name or metadata may hold terminal commands) become \xNN,
// bytes that are not UTF-8 become U+FFFD.
std::string printable(std::string_view text);

int display_width(std::string_view utf8);  // terminal cells

}  // namespace ridge
