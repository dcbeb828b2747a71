// Filters that give numbers.
#include <cmath>

#include "text/jinja_filters.h"

namespace ridge::text::jinja {
namespace {

Value abs_filter(Machine& machine, const Value& value, Args& args) {
  no_arguments(machine, args, "abs");
  return absolute(machine, value);
}

Value int_filter(Machine& machine, const Value& value, Args& args) {
  auto taken = take(machine, args, "int", {"default", "base"});
  Value otherwise = taken[0] ? *taken[0] : Value::integer(0);
  switch (value.kind()) {
    case ValueKind::undefined: fail_undefined(machine, value);
    case ValueKind::boolean:
    case ValueKind::integer: return Value::integer(value.as_integer());
    case ValueKind::real:
      if (std::isnan(value.as_real())) return otherwise;
      if (std::isinf(value.as_real())) machine.fail("infinity has no integer");
      return integer_of_double(machine, value.as_real());
    case ValueKind::string: {
      // A base that int() refuses leads on to the float, as any other failure of int() does.
      bool has_base = !taken[1] || taken[1]->is(ValueKind::integer) || taken[1]->is(ValueKind::boolean);
      std::int64_t base = has_base ? integer_argument(machine, taken[1], 10, "'base'") : -1;
      auto whole =
          base >= 0 && base <= 36 ? parse_integer(machine, value.as_string(), static_cast<int>(base)) : std::nullopt;
      if (whole) return Value::integer(*whole);
      auto real = parse_real(value.as_string());
      if (!real || !std::isfinite(*real)) return otherwise;
      return integer_of_double(machine, *real);
    }
    default: return otherwise;
  }
}

Value float_filter(Machine& machine, const Value& value, Args& args) {
  auto taken = take(machine, args, "float", {"default"});
  if (value.is(ValueKind::undefined)) fail_undefined(machine, value);
  if (is_number(value)) return Value::real(to_double(machine, value));
  if (auto real = value.is(ValueKind::string) ? parse_real(value.as_string()) : std::nullopt) return Value::real(*real);
  return taken[0] ? *taken[0] : Value::real(0);
}

Value round_filter(Machine& machine, const Value& value, Args& args) {
  auto taken = take(machine, args, "round", {"precision", "method"});
  std::int64_t precision = integer_argument(machine, taken[0], 0, "the precision");
  std::string method = taken[1] ? text_argument(machine, taken[1], "the method") : "common";
  if (method == "common") return round_value(machine, value, precision);
  if (method != "ceil" && method != "floor") machine.fail("the method of 'round' must be common, ceil or floor");
  Value scale = arithmetic(machine, Op::pow, Value::integer(10), Value::integer(precision));
  if (!is_number(value)) machine.fail("'round' does not work for {}", type_name(value));
  Value scaled = arithmetic(machine, Op::mul, value, scale);
  Value whole = scaled;
  if (scaled.is(ValueKind::real)) {
    double cut = method == "ceil" ? std::ceil(scaled.as_real()) : std::floor(scaled.as_real());
    whole = integer_of_double(machine, cut);
  }
  return arithmetic(machine, Op::div, whole, scale);
}

constexpr NamedFilter filters[] = {
    {"abs", abs_filter}, {"int", int_filter}, {"float", float_filter}, {"round", round_filter}};

}  // namespace

std::span<const NamedFilter> number_filters() { return filters; }

}  // namespace ridge::text::jinja
