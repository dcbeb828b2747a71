// Python's rules for values: printing, truth, comparing, arithmetic, iterating, attributes and items. Where Python
// raises, these fail as the user's input with the template's line.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/jinja_ast.h"
#include "text/jinja_machine.h"

namespace ridge::text::jinja {

// Printing: str(), repr() and repr of a float.
std::string to_str(Machine& machine, const Value& value);
std::string to_repr(Machine& machine, const Value& value, int depth = 0);
std::string real_repr(double value);
std::string string_repr(std::string_view text);
std::string_view type_name(const Value& value);  // "str", "int" ...

// Comparing.
bool is_truthy(Machine& machine, const Value& value);
bool equals(Machine& machine, const Value& a, const Value& b);
bool is_less(Machine& machine, const Value& a, const Value& b);  // a < b, fails for types that have no order
bool compares(Machine& machine, Op op, const Value& a, const Value& b);
bool contains(Machine& machine, const Value& container, const Value& item);  // item in container
bool is_same(Machine& machine, const Value& a, const Value& b);              // a is b
bool is_number(const Value& value);                                          // bool, int, float

// Arithmetic.
Value arithmetic(Machine& machine, Op op, const Value& a, const Value& b);
Value negate(Machine& machine, const Value& value);
Value plus(Machine& machine, const Value& value);
Value absolute(Machine& machine, const Value& value);
Value round_value(Machine& machine, const Value& value, std::int64_t digits);
double to_double(Machine& machine, const Value& number);
Value integer_of_double(Machine& machine, double value);  // int(value), value whole or to be cut
std::optional<std::int64_t> parse_integer(Machine& machine, std::string_view text, int base);  // int(text, base)
std::optional<double> parse_real(std::string_view text);                                       // float(text)

// Iterating.
std::shared_ptr<Iterator> iterate(Machine& machine, const Value& value);
std::shared_ptr<Iterator> iterate_items(std::vector<Value> items);
std::shared_ptr<Iterator> reversed(Machine& machine, const Value& value);  // null where reversed() raises
bool is_iterable(Machine& machine, const Value& value);
std::vector<Value> to_items(Machine& machine, const Value& value);  // list(value)
std::int64_t length(Machine& machine, const Value& value);          // len(value)
std::optional<std::int64_t> try_length(Machine& machine, const Value& value);
Value make_generator(std::string_view type, std::shared_ptr<Iterator> iterator, int inner_depth);

// Attributes and items, with the sandbox's rules.
Value get_attribute(Machine& machine, const Value& object, const std::string& name);
Value get_item(Machine& machine, const Value& object, const Value& key);
Value get_slice(Machine& machine, const Value& object, const Value& start, const Value& stop, const Value& step);
// Only what Python's getattr finds (methods, attributes of objects). False if there is none.
bool python_attribute(Machine& machine, const Value& object, const std::string& name, Value& out);

[[noreturn]] void fail_undefined(Machine& machine, const Value& value);
bool is_callable(const Value& value);
Value call_value(Machine& machine, const Value& function, Args& args);
Value escape_html(Machine& machine, const Value& value);  // markupsafe.escape
std::string escape_html(std::string_view text);

}  // namespace ridge::text::jinja
