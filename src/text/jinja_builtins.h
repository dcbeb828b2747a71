// The filters, tests, methods and global functions of templates, by name.
#pragma once
#include <string>
#include <string_view>

#include "text/jinja_ast.h"
#include "text/jinja_machine.h"

namespace ridge::text::jinja {

FilterFunction find_filter(std::string_view name);  // null: there is none
TestFunction find_test(std::string_view name);
const ValueMap& global_values();  // range, dict, namespace, raise_exception ...

using MethodFunction = Value (*)(Machine&, const Value& self, Args&);
enum class MethodKind : std::uint8_t { none, usable, unsafe, unsupported };
struct MethodLookup {
  MethodKind kind = MethodKind::none;
  MethodFunction function = nullptr;
};
// A method of str, dict, list, tuple, int or float. `unsafe`: the sandbox refuses it (it would change the value).
MethodLookup find_method(const Value& self, std::string_view name);

// Calls a filter or test that is named by a value (`map('upper')`, `select('odd')`).
Value call_filter(Machine& machine, const std::string& name, const Value& input, const Args& args);
bool call_test(Machine& machine, const std::string& name, const Value& input, const Args& args);

struct NamedFilter {
  std::string_view name;
  FilterFunction function;
};
struct NamedTest {
  std::string_view name;
  TestFunction function;
};
struct NamedMethod {
  std::string_view name;
  MethodFunction function;
};

}  // namespace ridge::text::jinja
