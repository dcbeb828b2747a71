// The tests of `is`.
#include <algorithm>

#include "text/jinja_arguments.h"
#include "text/jinja_builtins.h"
#include "text/jinja_objects.h"
#include "text/jinja_python.h"
#include "text/jinja_unicode.h"

namespace ridge::text::jinja {
namespace {

void no_arguments(Machine& machine, const Args& args) {
  if (!args.positional.empty() || !args.named.empty()) machine.fail("this test takes no arguments");
}

// Most tests look only at the value.
template <bool (*look)(Machine&, const Value&)> bool plain(Machine& machine, const Value& value, Args& args) {
  no_arguments(machine, args);
  return look(machine, value);
}

template <ValueKind kind> bool is_kind(Machine&, const Value& value) { return value.is(kind); }

bool is_defined(Machine&, const Value& value) { return !value.is(ValueKind::undefined); }
bool is_false(Machine&, const Value& value) { return value.is(ValueKind::boolean) && !value.as_boolean(); }
bool is_true(Machine&, const Value& value) { return value.is(ValueKind::boolean) && value.as_boolean(); }
bool number(Machine&, const Value& value) { return is_number(value); }
bool callable(Machine&, const Value& value) { return is_callable(value); }
bool iterable(Machine& machine, const Value& value) { return is_iterable(machine, value); }
bool escaped(Machine&, const Value& value) { return value.is(ValueKind::string) && value.text().markup; }

bool sequence(Machine&, const Value& value) {
  switch (value.kind()) {
    case ValueKind::undefined:
    case ValueKind::string:
    case ValueKind::list:
    case ValueKind::tuple:
    case ValueKind::map: return true;
    case ValueKind::object: return object_of(value).is_sequence();
    default: return false;
  }
}

std::int64_t remainder_is(Machine& machine, const Value& value, const Value& divisor, std::int64_t expected) {
  return equals(machine, arithmetic(machine, Op::mod, value, divisor), Value::integer(expected));
}
bool odd(Machine& machine, const Value& value) { return remainder_is(machine, value, Value::integer(2), 1); }
bool even(Machine& machine, const Value& value) { return remainder_is(machine, value, Value::integer(2), 0); }

// str.isupper and str.islower: some cased character, and all of them of that case.
template <bool (*wanted)(std::uint32_t), bool (*other)(std::uint32_t)>
bool all_case(Machine& machine, const Value& value) {
  std::string text = to_str(machine, value);
  bool some = false;
  for (std::size_t at = 0; at < text.size();) {
    Character c = character_at(text, at);
    if (other(c.code) || is_title(c.code)) return false;
    some = some || wanted(c.code);
    at += c.bytes;
  }
  return some;
}

bool divisible(Machine& machine, const Value& value, Args& args) {
  auto taken = take(machine, args, "divisibleby", {"num"}, 1);
  return remainder_is(machine, value, *taken[0], 0);
}

const Value& other_value(Machine& machine, const Args& args) {
  if (args.positional.size() != 1 || !args.named.empty()) machine.fail("this test takes one argument");
  return args.positional[0];
}

template <Op op> bool compare(Machine& machine, const Value& value, Args& args) {
  return compares(machine, op, value, other_value(machine, args));
}

bool in(Machine& machine, const Value& value, Args& args) {
  return contains(machine, *take(machine, args, "in", {"seq"}, 1)[0], value);
}
bool same_as(Machine& machine, const Value& value, Args& args) {
  return is_same(machine, value, *take(machine, args, "sameas", {"other"}, 1)[0]);
}

bool is_filter(Machine&, const Value& value) { return value.is(ValueKind::string) && find_filter(value.as_string()); }
bool is_test(Machine&, const Value& value) { return value.is(ValueKind::string) && find_test(value.as_string()); }

constexpr NamedTest tests[] = {
    {"odd", plain<odd>},
    {"even", plain<even>},
    {"divisibleby", divisible},
    {"defined", plain<is_defined>},
    {"undefined", plain<is_kind<ValueKind::undefined>>},
    {"filter", plain<is_filter>},
    {"test", plain<is_test>},
    {"none", plain<is_kind<ValueKind::none>>},
    {"boolean", plain<is_kind<ValueKind::boolean>>},
    {"false", plain<is_false>},
    {"true", plain<is_true>},
    {"integer", plain<is_kind<ValueKind::integer>>},
    {"float", plain<is_kind<ValueKind::real>>},
    {"lower", plain<all_case<is_lower, is_upper>>},
    {"upper", plain<all_case<is_upper, is_lower>>},
    {"string", plain<is_kind<ValueKind::string>>},
    {"mapping", plain<is_kind<ValueKind::map>>},
    {"number", plain<number>},
    {"sequence", plain<sequence>},
    {"iterable", plain<iterable>},
    {"callable", plain<callable>},
    {"sameas", same_as},
    {"escaped", plain<escaped>},
    {"in", in},
    {"==", compare<Op::eq>},
    {"eq", compare<Op::eq>},
    {"equalto", compare<Op::eq>},
    {"!=", compare<Op::ne>},
    {"ne", compare<Op::ne>},
    {">", compare<Op::gt>},
    {"gt", compare<Op::gt>},
    {"greaterthan", compare<Op::gt>},
    {"ge", compare<Op::ge>},
    {">=", compare<Op::ge>},
    {"<", compare<Op::lt>},
    {"lt", compare<Op::lt>},
    {"lessthan", compare<Op::lt>},
    {"<=", compare<Op::le>},
    {"le", compare<Op::le>},
};

}  // namespace

TestFunction find_test(std::string_view name) {
  for (const NamedTest& test : tests)
    if (test.name == name) return test.function;
  return nullptr;
}

bool call_test(Machine& machine, const std::string& name, const Value& input, const Args& args) {
  TestFunction test = find_test(name);
  if (!test) machine.fail("there is no test named '{}'", name);
  Args copy = args;
  return test(machine, input, copy);
}

}  // namespace ridge::text::jinja
