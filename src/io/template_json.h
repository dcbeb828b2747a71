// JSON text to the values of chat templates and back.
#pragma once
#include <string>
#include <string_view>

#include "text/template_value.h"

namespace ridge::io {

// Parses JSON. Integers beyond 64 bits become floats. Fails (as the user's input, naming `what`) on anything else than
// one JSON value, and on values nested too deep; never recurses on the input's depth.
text::Value template_value_from_json(std::string_view json, std::string_view what);

// Writes compact JSON: values of a template's context (no undefined, no objects of a running template).
std::string template_value_to_json(const text::Value& value);

}  // namespace ridge::io
