#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "text/jinja_format.h"
#include "text/jinja_python.h"
#include "text/jinja_unicode.h"

namespace ridge::text::jinja {
namespace {

constexpr std::string_view op_names[] = {"+", "-", "*", "/", "//", "%", "**"};

bool is_integral(const Value& value) { return value.is(ValueKind::integer) || value.is(ValueKind::boolean); }

[[noreturn]] void fail_types(Machine& machine, Op op, const Value& a, const Value& b) {
  if (a.is(ValueKind::undefined)) fail_undefined(machine, a);
  if (b.is(ValueKind::undefined)) fail_undefined(machine, b);
  machine.fail("'{}' does not work for {} and {}", op_names[static_cast<int>(op)], type_name(a), type_name(b));
}

Value checked(Machine& machine, bool overflow, std::int64_t result) {
  if (overflow) machine.fail("an integer beyond 64 bits is not supported");
  return Value::integer(result);
}

// a / b rounded once, as Python divides integers: both may have more bits than a double holds.
double divide_integers(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t exact = std::int64_t{1} << 53;
  if (a > -exact && a < exact && b > -exact && b < exact) return static_cast<double>(a) / static_cast<double>(b);
  bool negative = (a < 0) != (b < 0);
  auto x =
      static_cast<unsigned __int128>(a < 0 ? -static_cast<unsigned __int128>(a) : static_cast<unsigned __int128>(a));
  auto y =
      static_cast<unsigned __int128>(b < 0 ? -static_cast<unsigned __int128>(b) : static_cast<unsigned __int128>(b));
  if (x == 0) return negative ? -0.0 : 0.0;
  int shift = 0;
  while ((x >> 126) == 0) x <<= 1, ++shift;  // the quotient then has at least 62 bits
  unsigned __int128 quotient = x / y;
  bool sticky = x % y != 0;
  while (quotient >> 62) {
    sticky = sticky || (quotient & 1);
    quotient >>= 1;
    --shift;
  }
  auto bits = static_cast<std::uint64_t>(quotient) << 1 | (sticky ? 1 : 0);
  double result = std::ldexp(static_cast<double>(bits), -shift - 1);
  return negative ? -result : result;
}

Value integer_power(Machine& machine, std::int64_t base, std::int64_t exponent) {
  std::int64_t result = 1;
  bool overflow = false;
  while (exponent > 0) {
    if (exponent & 1) overflow |= __builtin_mul_overflow(result, base, &result);
    exponent >>= 1;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) overflow = true;
    if (overflow) break;
  }
  return checked(machine, overflow, result);
}

Value integers(Machine& machine, Op op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  switch (op) {
    case Op::add: {
      bool overflow = __builtin_add_overflow(a, b, &result);
      return checked(machine, overflow, result);
    }
    case Op::sub: {
      bool overflow = __builtin_sub_overflow(a, b, &result);
      return checked(machine, overflow, result);
    }
    case Op::mul: {
      bool overflow = __builtin_mul_overflow(a, b, &result);
      return checked(machine, overflow, result);
    }
    case Op::div:
      if (b == 0) machine.fail("division by zero");
      return Value::real(divide_integers(a, b));
    case Op::floordiv:
    case Op::mod: {
      if (b == 0) machine.fail("division by zero");
      if (b == -1) return op == Op::mod ? Value::integer(0) : checked(machine, a == INT64_MIN, a == INT64_MIN ? 0 : -a);
      std::int64_t quotient = a / b, rest = a % b;
      if (rest != 0 && (rest < 0) != (b < 0)) {
        --quotient;
        rest += b;
      }
      return Value::integer(op == Op::mod ? rest : quotient);
    }
    default: break;
  }
  if (b >= 0) return integer_power(machine, a, b);
  if (a == 0) machine.fail("zero cannot be raised to a negative power");
  return Value::real(std::pow(static_cast<double>(a), static_cast<double>(b)));
}

Value power(Machine& machine, double a, double b) {
  if (a == 0 && b < 0) machine.fail("zero cannot be raised to a negative power");
  if (a < 0 && std::isfinite(a) && std::isfinite(b) && b != std::floor(b))
    machine.fail("complex numbers are not supported");
  double result = std::pow(a, b);
  if (std::isinf(result) && std::isfinite(a) && std::isfinite(b)) machine.fail("the result of '**' is too large");
  return Value::real(result);
}

// Python's float floor division and modulo (float_divmod in CPython's floatobject.c).
Value divmod_real(double a, double b, Op op) {
  double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0) {
    if ((b < 0) != (rest < 0)) {
      rest += b;
      quotient -= 1.0;
    }
  } else {
    rest = std::copysign(0.0, b);
  }
  double floored = 0;
  if (quotient != 0) {
    floored = std::floor(quotient);
    if (quotient - floored > 0.5) floored += 1.0;
  } else {
    floored = std::copysign(0.0, a / b);
  }
  return Value::real(op == Op::mod ? rest : floored);
}

Value reals(Machine& machine, Op op, double a, double b) {
  switch (op) {
    case Op::add: return Value::real(a + b);
    case Op::sub: return Value::real(a - b);
    case Op::mul: return Value::real(a * b);
    case Op::pow: return power(machine, a, b);
    default: break;
  }
  if (b == 0) machine.fail("division by zero");
  return op == Op::div ? Value::real(a / b) : divmod_real(a, b, op);
}

Value add_strings(Machine& machine, const Value& a, const Value& b) {
  bool markup = a.text().markup || b.text().markup;
  machine.charge(a.as_string().size() + b.as_string().size());
  if (!markup) return Value::string(a.as_string() + b.as_string());
  return Value::markup(escape_html(machine, a).as_string() + escape_html(machine, b).as_string());
}

Value add_items(Machine& machine, const Value& a, const Value& b) {
  std::vector<Value> items = a.items();
  items.insert(items.end(), b.items().begin(), b.items().end());
  return a.is(ValueKind::list) ? machine.list(std::move(items)) : machine.tuple(std::move(items));
}

Value repeat(Machine& machine, const Value& value, std::int64_t count) {
  if (count < 0) count = 0;
  std::uint64_t unit = value.is(ValueKind::string) ? value.as_string().size() : value.items().size() * sizeof(Value);
  std::uint64_t total = 0;
  if (__builtin_mul_overflow(unit, static_cast<std::uint64_t>(count), &total) || total > machine.limits.bytes)
    machine.fail("a repetition makes more than {} bytes", machine.limits.bytes);
  machine.charge(total);
  if (value.is(ValueKind::string)) {
    std::string text;
    text.reserve(total);
    if (unit > 0)
      for (std::int64_t i = 0; i < count; ++i) text += value.as_string();
    return value.text().markup ? Value::markup(std::move(text)) : Value::string(std::move(text));
  }
  std::vector<Value> items;
  if (unit > 0)
    for (std::int64_t i = 0; i < count; ++i) items.insert(items.end(), value.items().begin(), value.items().end());
  return value.is(ValueKind::list) ? Value::list(std::move(items)) : Value::tuple(std::move(items));
}

bool is_repeatable(const Value& value) {
  return value.is(ValueKind::string) || value.is(ValueKind::list) || value.is(ValueKind::tuple);
}

}  // namespace

double to_double(Machine&, const Value& number) {
  return number.is(ValueKind::real) ? number.as_real() : static_cast<double>(number.as_integer());
}

Value arithmetic(Machine& machine, Op op, const Value& a, const Value& b) {
  if (is_integral(a) && is_integral(b)) return integers(machine, op, a.as_integer(), b.as_integer());
  if (is_number(a) && is_number(b)) return reals(machine, op, to_double(machine, a), to_double(machine, b));
  if (op == Op::mod && a.is(ValueKind::string)) return format_percent(machine, a, b);
  if (op == Op::add && a.kind() == b.kind()) {
    if (a.is(ValueKind::string)) return add_strings(machine, a, b);
    if (a.is(ValueKind::list) || a.is(ValueKind::tuple)) return add_items(machine, a, b);
  }
  if (op == Op::mul) {
    if (is_repeatable(a) && is_integral(b)) return repeat(machine, a, b.as_integer());
    if (is_repeatable(b) && is_integral(a)) return repeat(machine, b, a.as_integer());
  }
  fail_types(machine, op, a, b);
}

Value negate(Machine& machine, const Value& value) {
  if (value.is(ValueKind::real)) return Value::real(-value.as_real());
  if (is_integral(value)) return integers(machine, Op::sub, 0, value.as_integer());
  if (value.is(ValueKind::undefined)) fail_undefined(machine, value);
  machine.fail("'-' does not work for {}", type_name(value));
}

Value plus(Machine& machine, const Value& value) {
  if (value.is(ValueKind::real)) return value;
  if (is_integral(value)) return Value::integer(value.as_integer());
  if (value.is(ValueKind::undefined)) fail_undefined(machine, value);
  machine.fail("'+' does not work for {}", type_name(value));
}

Value absolute(Machine& machine, const Value& value) {
  if (value.is(ValueKind::real)) return Value::real(std::fabs(value.as_real()));
  if (!is_integral(value)) machine.fail("'abs' does not work for {}", type_name(value));
  return value.as_integer() < 0 ? negate(machine, value) : Value::integer(value.as_integer());
}

Value integer_of_double(Machine& machine, double value) {
  if (!(value > -9223372036854775809.0 && value < 9223372036854775808.0))
    machine.fail("a float of {} has no integer of 64 bits", real_repr(value));
  return Value::integer(static_cast<std::int64_t>(value));
}

Value round_value(Machine& machine, const Value& value, std::int64_t digits) {
  if (is_integral(value)) {
    std::int64_t number = value.as_integer();
    if (digits >= 0) return Value::integer(number);
    if (digits < -18) return Value::integer(0);
    std::int64_t unit = 1;
    for (std::int64_t i = digits; i < 0; ++i) unit *= 10;
    std::int64_t rest = ((number % unit) + unit) % unit;
    std::int64_t down = number - rest;  // may be below the range only if number is; checked by the additions below
    bool up = rest > unit - rest || (rest == unit - rest && (down / unit) % 2 != 0);
    return up ? integers(machine, Op::add, down, unit) : Value::integer(down);
  }
  if (!value.is(ValueKind::real)) machine.fail("'round' does not work for {}", type_name(value));
  double number = value.as_real();
  if (!std::isfinite(number) || digits > 323) return value;
  if (digits < -308) return Value::real(std::copysign(0.0, number));
  if (digits >= 0) {
    // As CPython: the exact decimal value, rounded half to even by printf, and read back.
    std::string text = fmt::format("{:.{}f}", number, digits);
    return Value::real(std::strtod(text.c_str(), nullptr));
  }
  // Negative digits: print as many significant digits as are left of the place that is rounded to.
  std::string shown = fmt::format("{:e}", number);
  int exponent = std::atoi(shown.c_str() + shown.find('e') + 1);
  auto kept = exponent + digits;
  if (kept < -1) return Value::real(std::copysign(0.0, number));
  if (kept >= 0) return Value::real(std::strtod(fmt::format("{:.{}e}", number, kept).c_str(), nullptr));
  double unit = std::strtod(fmt::format("1e{}", -digits).c_str(), nullptr);
  return Value::real(std::copysign(std::fabs(number) > unit / 2 ? unit : 0.0, number));
}

std::optional<double> parse_real(std::string_view text) {
  text = strip(text, Ends::both);
  std::string clean;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '_') {
      bool between = i > 0 && i + 1 < text.size() && text[i - 1] >= '0' && text[i - 1] <= '9' && text[i + 1] >= '0' &&
                     text[i + 1] <= '9';
      if (!between) return std::nullopt;
      continue;
    }
    bool fine =
        (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!fine) return std::nullopt;
    clean += c;
  }
  if (clean.empty() || clean.find('x') != std::string::npos || clean.find('X') != std::string::npos)
    return std::nullopt;
  if (clean.find('(') != std::string::npos) return std::nullopt;
  char* end = nullptr;
  double value = std::strtod(clean.c_str(), &end);
  if (end != clean.c_str() + clean.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> parse_integer(Machine& machine, std::string_view text, int base) {
  text = strip(text, Ends::both);
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  bool prefixed = false;
  if (text.size() > 2 && text[0] == '0') {
    char mark = static_cast<char>(text[1] | 0x20);
    int prefix = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 0;
    if (prefix != 0 && (base == prefix || base == 0)) {
      base = prefix;
      prefixed = true;
      text.remove_prefix(2);
    }
  }
  bool zero_only = base == 0 && text.size() > 1 && text[0] == '0';
  if (base == 0) base = 10;
  if (base < 2 || base > 36) return std::nullopt;
  if (text.empty()) return std::nullopt;
  std::int64_t value = 0;
  bool overflow = false, last_was_digit = prefixed;
  for (char c : text) {
    if (c == '_') {
      if (!last_was_digit) return std::nullopt;
      last_was_digit = false;
      continue;
    }
    int digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'z' ? c - 'a' + 10
                : c >= 'A' && c <= 'Z' ? c - 'A' + 10
                                       : 99;
    if (digit >= base) {
      if (static_cast<unsigned char>(c) >= 0x80) {
        for (std::size_t at = 0; at < text.size();) {
          Character other = character_at(text, at);
          if (other.code >= 0x80 && is_decimal(other.code))
            machine.fail("digits beyond ASCII are not supported in numbers");
          at += other.bytes;
        }
      }
      return std::nullopt;
    }
    overflow = overflow || __builtin_mul_overflow(value, static_cast<std::int64_t>(base), &value) ||
               (negative ? __builtin_sub_overflow(value, static_cast<std::int64_t>(digit), &value)
                         : __builtin_add_overflow(value, static_cast<std::int64_t>(digit), &value));
    last_was_digit = true;
  }
  if (!last_was_digit || (zero_only && value != 0)) return std::nullopt;
  if (overflow) machine.fail("an integer beyond 64 bits is not supported");
  return value;
}

}  // namespace ridge::text::jinja
