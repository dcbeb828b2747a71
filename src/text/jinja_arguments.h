// Takes the arguments of a call apart by position or name, as a Python signature does.
#pragma once
#include <initializer_list>
#include <string_view>
#include <vector>

#include "text/jinja_machine.h"

namespace ridge::text::jinja {

// Values in the order of `names`; null where not given. Fails on too many, on unknown names and on ones given twice.
std::vector<const Value*> take(Machine& machine, const Args& args, std::string_view function,
                               std::initializer_list<std::string_view> names, std::size_t required = 0);

std::int64_t integer_argument(Machine& machine, const Value* value, std::int64_t otherwise, std::string_view what);
bool truth_argument(Machine& machine, const Value* value, bool otherwise);
const std::string& text_argument(Machine& machine, const Value* value, std::string_view what);  // must be a string

}  // namespace ridge::text::jinja
