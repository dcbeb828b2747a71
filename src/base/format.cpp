#include "base/format.h"

#include <fmt/core.h>
#include <utf8proc.h>

#include <cmath>
#include <span>

namespace ridge {
namespace {

constexpr std::string_view thin_space = "\u2009";
constexpr std::string_view unknown = "–";

// "1234567" -> "1 234 567"; a fraction, exponent and sign are left as they are.
std::string part_thousands(const std::string& number) {
  const std::size_t sign = number.starts_with('-') ? 1 : 0;
  std::size_t whole = sign;
  while (whole < number.size() && number[whole] >= '0' && number[whole] <= '9') ++whole;
  std::string out;
  for (std::size_t i = 0; i < number.size(); ++i) {
    if (i > sign && i < whole && (whole - i) % 3 == 0) out += thin_space;
    out += number[i];
  }
  return out;
}

double round_to(double value, int digits) {
  if (value == 0) return 0;
  const double scale = std::pow(10.0, digits - 1 - std::floor(std::log10(std::fabs(value))));
  return std::isfinite(scale) ? std::round(value * scale) / scale : value;
}

// The largest prefix that keeps the rounded value at or above 1.
std::string scaled(double value, double step, std::span<const std::string_view> prefixes, std::string_view unit) {
  std::size_t p = 0;
  const auto digits = [&] {
    return step == 1000 || std::fabs(value) < 999.5 ? 3 : 4;
  };  // 1 023 KiB is below the next prefix
  while (p + 1 < prefixes.size() && std::fabs(round_to(value, digits())) >= step) {
    value /= step;
    ++p;
  }
  return fmt::format("{} {}{}", format_significant(value, digits()), prefixes[p], unit);
}

std::string scaled_si(double value, std::string_view unit) {
  static constexpr std::string_view prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  return scaled(value, 1000, prefixes, unit);
}

std::string scaled_bytes(double value) {
  static constexpr std::string_view prefixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  return scaled(value, 1024, prefixes, "B");
}

std::string scaled_seconds(double value) {
  const double size = std::fabs(value);
  if (size == 0) return "0 s";
  if (size >= 0.995) return format_significant(value) + " s";
  if (size >= 0.0995) return fmt::format("{:.2f} s", value);
  if (size >= 0.9995e-3) return format_significant(value * 1e3) + " ms";
  if (size >= 0.9995e-6) return format_significant(value * 1e6) + " µs";
  return format_significant(value * 1e9) + " ns";
}

// "63 %", "6.3 %", "107 %": two digits below 100 %.
std::string percent(double value) {
  const int digits = std::fabs(value) < 0.995 ? 2 : 3;
  return format_significant(value * 100, digits) + " %";
}

}  // namespace

std::string format_count(std::int64_t value) { return part_thousands(std::to_string(value)); }

std::string format_significant(double value, int digits) {
  if (std::isnan(value)) return std::string(unknown);
  if (std::isinf(value)) return value < 0 ? "−∞" : "∞";
  const double rounded = round_to(value, digits);
  const double size = std::fabs(rounded);
  if (size != 0 && (size < 1e-4 || size >= 1e15)) return fmt::format("{:.{}e}", value, digits - 1);
  if (size == 0) return "0";
  const int whole_digits = int(std::floor(std::log10(size))) + 1;
  return part_thousands(fmt::format("{:.{}f}", rounded, whole_digits >= digits ? 0 : digits - whole_digits));
}

std::string format_quantity(double value, Unit unit) {
  if (std::isnan(value)) return std::string(unknown);
  if (std::isinf(value)) return format_significant(value);
  switch (unit) {
    case Unit::none: return format_significant(value, 4);
    case Unit::count: return std::fabs(value) < 9e15 ? format_count(std::llround(value)) : format_significant(value);
    case Unit::bytes: return scaled_bytes(value);
    case Unit::bytes_per_s: return scaled_si(value, "B/s");
    case Unit::flop: return scaled_si(value, "FLOP");
    case Unit::flop_per_s: return scaled_si(value, "FLOP/s");
    case Unit::op: return scaled_si(value, "OP");
    case Unit::op_per_s: return scaled_si(value, "OP/s");
    case Unit::seconds: return scaled_seconds(value);
    case Unit::fraction: return percent(value);
    case Unit::tokens_per_s: return format_significant(value) + " tok/s";
    case Unit::ratio: return format_significant(value) + "×";
    case Unit::hertz: return scaled_si(value, "Hz");
    case Unit::watts: return scaled_si(value, "W");
  }
  return format_significant(value);
}

std::string printable(std::string_view text) {
  std::string out;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  for (std::size_t i = 0; i < text.size();) {
    utf8proc_int32_t point = -1;
    const auto length = utf8proc_iterate(bytes + i, utf8proc_ssize_t(text.size() - i), &point);
    if (length <= 0) {
      out += "\uFFFD";
      ++i;
      continue;
    }
    const bool control = point < 0x20 || (point >= 0x7f && point < 0xa0);
    const bool reorders = (point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069);
    if (control) out += fmt::format("\\x{:02x}", point);
    else if (reorders) out += fmt::format("\\u{:04x}", point);
    else out.append(text.substr(i, std::size_t(length)));
    i += std::size_t(length);
  }
  return out;
}

int display_width(std::string_view utf8) {
  int width = 0;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(utf8.data());
  for (std::size_t i = 0; i < utf8.size();) {
    utf8proc_int32_t point = -1;
    const auto length = utf8proc_iterate(bytes + i, utf8proc_ssize_t(utf8.size() - i), &point);
    width += length <= 0 ? 1 : utf8proc_charwidth(point);
    i += length <= 0 ? 1 : std::size_t(length);
  }
  return width;
}

}  // namespace ridge
