#include "text/jinja_arguments.h"

#include "text/jinja_python.h"

namespace ridge::text::jinja {

std::vector<const Value*> take(Machine& machine, const Args& args, std::string_view function,
                               std::initializer_list<std::string_view> names, std::size_t required) {
  if (args.positional.size() > names.size())
    machine.fail("'{}' takes at most {} arguments, {} are given", function, names.size(), args.positional.size());
  std::vector<const Value*> taken(names.size(), nullptr);
  for (std::size_t i = 0; i < args.positional.size(); ++i) taken[i] = &args.positional[i];
  for (const auto& [name, value] : args.named) {
    std::size_t i = 0;
    for (std::string_view known : names) {
      if (known == name) break;
      ++i;
    }
    if (i == names.size()) machine.fail("'{}' takes no argument named '{}'", function, name);
    if (taken[i]) machine.fail("'{}' is given the argument '{}' twice", function, name);
    taken[i] = &value;
  }
  for (std::size_t i = 0; i < required; ++i)
    if (!taken[i]) machine.fail("'{}' needs the argument '{}'", function, names.begin()[i]);
  return taken;
}

std::int64_t integer_argument(Machine& machine, const Value* value, std::int64_t otherwise, std::string_view what) {
  if (!value) return otherwise;
  if (!value->is(ValueKind::integer) && !value->is(ValueKind::boolean))
    machine.fail("{} must be an integer, not {}", what, type_name(*value));
  return value->as_integer();
}

bool truth_argument(Machine& machine, const Value* value, bool otherwise) {
  return value ? is_truthy(machine, *value) : otherwise;
}

const std::string& text_argument(Machine& machine, const Value* value, std::string_view what) {
  if (!value || !value->is(ValueKind::string))
    machine.fail("{} must be a string, not {}", what, value ? type_name(*value) : std::string_view("nothing"));
  return value->as_string();
}

}  // namespace ridge::text::jinja
