#include <cmath>
#include <compare>

#include "text/jinja_python.h"
#include "text/jinja_unicode.h"

namespace ridge::text::jinja {
namespace {

bool is_integral(const Value& value) { return value.is(ValueKind::integer) || value.is(ValueKind::boolean); }

// Compares exactly: an int64 need not be a double.
std::partial_ordering compare_integer_real(std::int64_t integer, double real) {
  if (std::isnan(real)) return std::partial_ordering::unordered;
  if (real >= 9223372036854775808.0) return std::partial_ordering::less;
  if (real < -9223372036854775808.0) return std::partial_ordering::greater;
  double floor = std::floor(real);
  auto whole = static_cast<std::int64_t>(floor);
  if (integer != whole) return integer <=> whole;
  return real > floor ? std::partial_ordering::less : std::partial_ordering::equivalent;
}

std::partial_ordering compare_numbers(const Value& a, const Value& b) {
  if (is_integral(a) && is_integral(b)) return a.as_integer() <=> b.as_integer();
  if (is_integral(a)) return compare_integer_real(a.as_integer(), b.as_real());
  if (is_integral(b)) return 0 <=> compare_integer_real(b.as_integer(), a.as_real());
  return a.as_real() <=> b.as_real();
}

bool is_identical(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return false;
  if (a.node() && a.node() == b.node()) return true;
  return a.is(ValueKind::none);
}

bool maps_equal(Machine& machine, const ValueMap& a, const ValueMap& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [key, item] : a.entries()) {
    const Value* other = b.find(key);
    if (!other || !equals(machine, item, *other)) return false;
  }
  return true;
}

[[noreturn]] void fail_order(Machine& machine, const Value& a, const Value& b) {
  if (a.is(ValueKind::undefined)) fail_undefined(machine, a);
  if (b.is(ValueKind::undefined)) fail_undefined(machine, b);
  machine.fail("'{}' and '{}' have no order", type_name(a), type_name(b));
}

// a <=> b by Python's `<` and `==`, for what has an order.
std::partial_ordering order(Machine& machine, const Value& a, const Value& b) {
  machine.step();
  if (is_number(a) && is_number(b)) return compare_numbers(a, b);
  if (a.is(ValueKind::string) && b.is(ValueKind::string)) {
    // UTF-8 keeps the order of code points.
    machine.step(std::min(a.as_string().size(), b.as_string().size()) / 64);
    int result = a.as_string().compare(b.as_string());
    return result <=> 0;
  }
  bool lists = (a.is(ValueKind::list) && b.is(ValueKind::list)) || (a.is(ValueKind::tuple) && b.is(ValueKind::tuple));
  if (!lists) fail_order(machine, a, b);
  const auto& x = a.items();
  const auto& y = b.items();
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i)
    if (!equals(machine, x[i], y[i])) return order(machine, x[i], y[i]);
  return x.size() <=> y.size();
}

}  // namespace

bool is_number(const Value& value) { return is_integral(value) || value.is(ValueKind::real); }

bool is_truthy(Machine& machine, const Value& value) {
  switch (value.kind()) {
    case ValueKind::undefined:
    case ValueKind::none: return false;
    case ValueKind::boolean:
    case ValueKind::integer: return value.as_integer() != 0;
    case ValueKind::real: return value.as_real() != 0;
    case ValueKind::string: return !value.as_string().empty();
    case ValueKind::list:
    case ValueKind::tuple: return !value.items().empty();
    case ValueKind::map: return value.entries().size() != 0;
    case ValueKind::object: return object_of(value).truth(machine);
  }
  return false;
}

bool equals(Machine& machine, const Value& a, const Value& b) {
  machine.step();
  if (is_number(a) && is_number(b)) return compare_numbers(a, b) == 0;
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case ValueKind::undefined:
    case ValueKind::none: return true;
    case ValueKind::string: machine.step(a.as_string().size() / 64); return a.as_string() == b.as_string();
    case ValueKind::list:
    case ValueKind::tuple: {
      const auto& x = a.items();
      const auto& y = b.items();
      if (x.size() != y.size()) return false;
      for (std::size_t i = 0; i < x.size(); ++i)
        if (!is_identical(x[i], y[i]) && !equals(machine, x[i], y[i])) return false;
      return true;
    }
    case ValueKind::map: return a.node() == b.node() || maps_equal(machine, a.entries(), b.entries());
    case ValueKind::object: return object_of(a).equals(machine, object_of(b));
    default: return false;
  }
}

bool is_less(Machine& machine, const Value& a, const Value& b) { return order(machine, a, b) < 0; }

bool compares(Machine& machine, Op op, const Value& a, const Value& b) {
  switch (op) {
    case Op::eq: return equals(machine, a, b);
    case Op::ne: return !equals(machine, a, b);
    case Op::lt: return order(machine, a, b) < 0;
    case Op::le: return order(machine, a, b) <= 0;
    case Op::gt: return order(machine, a, b) > 0;
    case Op::ge: return order(machine, a, b) >= 0;
    case Op::in: return contains(machine, b, a);
    case Op::not_in: return !contains(machine, b, a);
    default: fail_bug("chat template: not a comparison");
  }
}

bool contains(Machine& machine, const Value& container, const Value& item) {
  if (container.is(ValueKind::string)) {
    if (!item.is(ValueKind::string)) machine.fail("'in <string>' needs a string on the left, not {}", type_name(item));
    machine.step(container.as_string().size() / 16);
    return container.as_string().find(item.as_string()) != std::string::npos;
  }
  if (container.is(ValueKind::map)) {
    std::string form;
    if (!append_map_key(item, form)) machine.fail("a {} cannot be a key", type_name(item));
    return container.entries().find(item) != nullptr;
  }
  if (!is_iterable(machine, container))
    machine.fail("'in' needs a container on the right, not {}", type_name(container));
  auto iterator = iterate(machine, container);
  for (Value other; iterator->next(machine, other);)
    if (is_identical(item, other) || equals(machine, item, other)) return true;
  return false;
}

bool is_same(Machine& machine, const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case ValueKind::none: return true;
    case ValueKind::boolean: return a.as_boolean() == b.as_boolean();
    case ValueKind::integer:
      // CPython shares small integers; for larger ones identity is an accident.
      if (a.as_integer() != b.as_integer()) return false;
      if (a.as_integer() >= -5 && a.as_integer() <= 256) return true;
      machine.fail("'sameas' of large integers is not supported");
    case ValueKind::undefined:
    case ValueKind::real:
    case ValueKind::string: machine.fail("'sameas' of two values of type {} is not supported", type_name(a));
    default: return a.node() == b.node();
  }
}

}  // namespace ridge::text::jinja
