// Shared by the files that hold filters.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "text/jinja_arguments.h"
#include "text/jinja_builtins.h"
#include "text/jinja_python.h"

namespace ridge::text::jinja {

// The attribute that filters take: a name, a number, or a path of them ("address.0.city").
class AttributePath {
 public:
  AttributePath(Machine& machine, const Value* attribute, const Value* otherwise = nullptr);
  Value of(Machine& machine, const Value& item) const;

 private:
  std::vector<Value> parts_;
  const Value* otherwise_;
};

Value fold_case(Machine& machine, const Value& value);  // strings in lower case, others as they are
Value soft_text(Machine& machine, const Value& value);  // a string as it is, others as str() has them
void no_arguments(Machine& machine, const Args& args, std::string_view filter);

std::span<const NamedFilter> text_filters();
std::span<const NamedFilter> item_filters();
std::span<const NamedFilter> lazy_filters();
std::span<const NamedFilter> number_filters();

}  // namespace ridge::text::jinja
