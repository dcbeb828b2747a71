// Methods of dict, list, tuple and numbers, and which method a name means.
#include "text/jinja_methods.h"

#include <algorithm>
#include <cmath>

#include "text/jinja_arguments.h"
#include "text/jinja_builtins.h"
#include "text/jinja_objects.h"
#include "text/jinja_python.h"

namespace ridge::text::jinja {
namespace {

template <ViewKind kind> Value map_view(Machine& machine, const Value& self, Args& args) {
  by_position(machine, args, 0, 0);
  return make_object<ViewObject>(self.depth(), self, kind);
}

Value map_get(Machine& machine, const Value& self, Args& args) {
  by_position(machine, args, 1, 2);
  std::string form;
  if (!append_map_key(args.positional[0], form)) machine.fail("a {} cannot be a key", type_name(args.positional[0]));
  const Value* found = self.entries().find(args.positional[0]);
  if (found) return *found;
  return args.positional.size() > 1 ? args.positional[1] : Value::none();
}

Value map_copy(Machine& machine, const Value& self, Args& args) {
  by_position(machine, args, 0, 0);
  return self;  // values cannot change, so a copy is the value
}

Value items_index(Machine& machine, const Value& self, Args& args) {
  by_position(machine, args, 1, 3);
  auto count = static_cast<std::int64_t>(self.items().size());
  auto bound = [&](std::size_t i, std::int64_t otherwise) {
    if (args.positional.size() <= i) return otherwise;
    std::int64_t at = integer_argument(machine, &args.positional[i], 0, "a bound of 'index'");
    return at < 0 ? std::max<std::int64_t>(0, at + count) : std::min(at, count);
  };
  std::int64_t stop = bound(2, count);
  for (std::int64_t i = bound(1, 0); i < stop; ++i)
    if (equals(machine, self.items()[static_cast<std::size_t>(i)], args.positional[0])) return Value::integer(i);
  machine.fail("'index': the value is not in the {}", type_name(self));
}

Value items_count(Machine& machine, const Value& self, Args& args) {
  by_position(machine, args, 1, 1);
  std::int64_t count = 0;
  for (const Value& item : self.items()) count += equals(machine, item, args.positional[0]);
  return Value::integer(count);
}

Value list_copy(Machine& machine, const Value& self, Args& args) {
  by_position(machine, args, 0, 0);
  return machine.list(self.items());
}

Value real_is_integer(Machine& machine, const Value& self, Args& args) {
  by_position(machine, args, 0, 0);
  return Value::boolean(std::isfinite(self.as_real()) && self.as_real() == std::floor(self.as_real()));
}

constexpr NamedMethod map_methods[] = {
    {"items", map_view<ViewKind::items>},
    {"keys", map_view<ViewKind::keys>},
    {"values", map_view<ViewKind::values>},
    {"get", map_get},
    {"copy", map_copy},
};
constexpr std::string_view map_unsafe[] = {"clear", "pop", "popitem", "setdefault", "update"};
constexpr std::string_view map_unsupported[] = {"fromkeys"};
constexpr NamedMethod list_methods[] = {{"index", items_index}, {"count", items_count}, {"copy", list_copy}};
constexpr std::string_view list_unsafe[] = {"append", "clear", "pop", "reverse", "insert", "sort", "extend", "remove"};
constexpr NamedMethod tuple_methods[] = {{"index", items_index}, {"count", items_count}};
constexpr NamedMethod real_methods[] = {{"is_integer", real_is_integer}};
constexpr std::string_view number_unsupported[] = {
    "real",      "imag",     "numerator",  "denominator",      "conjugate", "bit_length",
    "bit_count", "to_bytes", "from_bytes", "as_integer_ratio", "hex",       "fromhex"};

template <class Table> MethodLookup look(const Table& methods, std::string_view name) {
  for (const NamedMethod& method : methods)
    if (method.name == name) return {MethodKind::usable, method.function};
  return {};
}

template <class Names> bool has(const Names& names, std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

void by_position(Machine& machine, const Args& args, std::size_t least, std::size_t most) {
  if (!args.named.empty()) machine.fail("this method takes no argument named '{}'", args.named[0].first);
  if (args.positional.size() < least || args.positional.size() > most)
    machine.fail("this method takes {} to {} arguments, {} are given", least, most, args.positional.size());
}

MethodLookup find_method(const Value& self, std::string_view name) {
  switch (self.kind()) {
    case ValueKind::string: return find_text_method(name);
    case ValueKind::map:
      if (has(map_unsafe, name)) return {MethodKind::unsafe};
      if (has(map_unsupported, name)) return {MethodKind::unsupported};
      return look(map_methods, name);
    case ValueKind::list:
      if (has(list_unsafe, name)) return {MethodKind::unsafe};
      return look(list_methods, name);
    case ValueKind::tuple: return look(tuple_methods, name);
    case ValueKind::boolean:
    case ValueKind::integer:
      return has(number_unsupported, name) && !name.ends_with("hex") ? MethodLookup{MethodKind::unsupported}
                                                                     : MethodLookup{};
    case ValueKind::real:
      if (has(number_unsupported, name)) return {MethodKind::unsupported};
      return look(real_methods, name);
    default: return {};
  }
}

}  // namespace ridge::text::jinja
