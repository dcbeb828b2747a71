// Python's three ways to format text: the operator % (printf style), str.format with its mini-language, and json.dumps.
#pragma once
#include <string>
#include <string_view>

#include "text/jinja_machine.h"

namespace ridge::text::jinja {

// format % value: a tuple gives several values, a dict named ones.
Value format_percent(Machine& machine, const Value& format, const Value& value);

// format.format(*args, **kwargs)
Value format_braces(Machine& machine, const Value& format, const Args& args);

// format(value, spec), for text and numbers.
std::string format_spec(Machine& machine, const Value& value, std::string_view spec);

struct JsonStyle {
  bool ascii_only = false;
  bool sort_keys = false;
  bool indented = false;
  std::string indent;
  std::string item_separator = ", ", key_separator = ": ";
};
// json.dumps(value, ...)
std::string to_json(Machine& machine, const Value& value, const JsonStyle& style);

}  // namespace ridge::text::jinja
