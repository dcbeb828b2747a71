// Looking filters up, and what several of them need.
#include "text/jinja_filters.h"

#include <string>

#include "text/jinja_literal.h"
#include "text/jinja_unicode.h"

namespace ridge::text::jinja {
namespace {

std::vector<Value> path_parts(Machine& machine, const Value& attribute) {
  if (attribute.is(ValueKind::none)) return {};
  if (!attribute.is(ValueKind::string)) return {attribute};
  std::vector<Value> parts;
  std::string_view rest = attribute.as_string();
  for (;;) {
    std::size_t dot = rest.find('.');
    std::string_view part = rest.substr(0, dot);
    bool digits = !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
    if (digits) parts.push_back(Value::integer(*parse_integer(machine, part, 10)));
    else parts.push_back(machine.string(std::string(part)));
    if (dot == std::string_view::npos) return parts;
    rest = rest.substr(dot + 1);
  }
}

template <const char* name> Value unsupported(Machine& machine, const Value&, Args&) {
  machine.fail("the filter '{}' is not supported", name);
}
constexpr char pprint[] = "pprint", random[] = "random", urlize[] = "urlize", wordwrap[] = "wordwrap",
               striptags[] = "striptags";

constexpr NamedFilter unsupported_filters[] = {
    {"pprint", unsupported<pprint>},     {"random", unsupported<random>},       {"urlize", unsupported<urlize>},
    {"wordwrap", unsupported<wordwrap>}, {"striptags", unsupported<striptags>},
};

}  // namespace

AttributePath::AttributePath(Machine& machine, const Value* attribute, const Value* otherwise) : otherwise_(otherwise) {
  if (attribute) parts_ = path_parts(machine, *attribute);
  if (otherwise_ && otherwise_->is(ValueKind::none)) otherwise_ = nullptr;
}

Value AttributePath::of(Machine& machine, const Value& item) const {
  Value value = item;
  for (const Value& part : parts_) {
    machine.step();
    value = get_item(machine, value, part);
    if (otherwise_ && value.is(ValueKind::undefined)) value = *otherwise_;
  }
  return value;
}

Value fold_case(Machine& machine, const Value& value) {
  if (!value.is(ValueKind::string)) return value;
  return machine.string(to_case(value.as_string(), Case::lower));
}

Value soft_text(Machine& machine, const Value& value) {
  return value.is(ValueKind::string) ? value : machine.string(to_str(machine, value));
}

void no_arguments(Machine& machine, const Args& args, std::string_view filter) {
  if (!args.positional.empty() || !args.named.empty()) machine.fail("the filter '{}' takes no arguments", filter);
}

FilterFunction find_filter(std::string_view name) {
  for (std::span<const NamedFilter> filters : {text_filters(), item_filters(), lazy_filters(), number_filters(),
                                               std::span<const NamedFilter>(unsupported_filters)})
    for (const NamedFilter& filter : filters)
      if (filter.name == name) return filter.function;
  return nullptr;
}

Value call_filter(Machine& machine, const std::string& name, const Value& input, const Args& args) {
  FilterFunction filter = find_filter(name);
  if (!filter) machine.fail("there is no filter named '{}'", name);
  Args copy = args;
  return filter(machine, input, copy);
}

}  // namespace ridge::text::jinja
