#include <algorithm>

#include "text/jinja_builtins.h"
#include "text/jinja_objects.h"
#include "text/jinja_python.h"
#include "text/jinja_unicode.h"

namespace ridge::text::jinja {
namespace {

std::string quoted_type(const Value& value) {
  return value.is(ValueKind::none) ? "'None'" : fmt::format("'{} object'", type_name(value));
}

Value no_attribute(const Value& object, const std::string& name) {
  return Value::undefined(fmt::format("{} has no attribute '{}'", quoted_type(object), name));
}

bool is_dunder(const std::string& name) { return name.size() > 4 && name.starts_with("__") && name.ends_with("__"); }

// Attributes that every object of Python has.
bool is_object_attribute(const std::string& name) {
  static constexpr std::string_view names[] = {
      "__class__",        "__delattr__",  "__dir__", "__doc__",         "__eq__",     "__format__",        "__ge__",
      "__getattribute__", "__getstate__", "__gt__",  "__hash__",        "__init__",   "__init_subclass__", "__le__",
      "__lt__",           "__module__",   "__ne__",  "__new__",         "__reduce__", "__reduce_ex__",     "__repr__",
      "__setattr__",      "__sizeof__",   "__str__", "__subclasshook__"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool is_index(const Value& value) { return value.is(ValueKind::integer) || value.is(ValueKind::boolean); }

// container[key] as Python has it; false where Python raises TypeError or LookupError.
bool python_item(Machine& machine, const Value& object, const Value& key, Value& out) {
  switch (object.kind()) {
    case ValueKind::map: {
      const Value* found = object.entries().find(key);
      if (found) out = *found;
      return found != nullptr;
    }
    case ValueKind::list:
    case ValueKind::tuple: {
      if (!is_index(key)) return false;
      auto count = static_cast<std::int64_t>(object.items().size());
      std::int64_t index = key.as_integer() < 0 ? key.as_integer() + count : key.as_integer();
      if (index < 0 || index >= count) return false;
      out = object.items()[static_cast<std::size_t>(index)];
      return true;
    }
    case ValueKind::string: {
      if (!is_index(key)) return false;
      const ValueText& text = object.text();
      std::int64_t index = key.as_integer() < 0 ? key.as_integer() + text.length : key.as_integer();
      if (index < 0 || index >= text.length) return false;
      bool ascii = text.length == static_cast<std::int64_t>(text.bytes.size());
      if (!ascii) machine.step(static_cast<std::uint64_t>(index) / 16);
      std::size_t at = ascii ? static_cast<std::size_t>(index) : byte_offset(text.bytes, index);
      std::string character = text.bytes.substr(at, character_at(text.bytes, at).bytes);
      out = text.markup ? Value::markup(std::move(character)) : machine.string(std::move(character));
      return true;
    }
    case ValueKind::object: return object_of(object).item(machine, key, out);
    default: return false;
  }
}

struct Bounds {
  std::int64_t start, stop, step, count;
};

// Python's slice.indices(length), and how many items that takes.
Bounds slice_bounds(Machine& machine, std::int64_t length, const Value& start, const Value& stop, const Value& step) {
  for (const Value* part : {&start, &stop, &step})
    if (!part->is(ValueKind::none) && !is_index(*part))
      machine.fail("a slice needs integers, not {}", type_name(*part));
  std::int64_t by = step.is(ValueKind::none) ? 1 : step.as_integer();
  if (by == 0) machine.fail("a slice cannot have a step of 0");
  by = std::max(by, -INT64_MAX);
  std::int64_t low = by < 0 ? -1 : 0, high = by < 0 ? length - 1 : length;
  auto place = [&](const Value& part, std::int64_t otherwise) {
    if (part.is(ValueKind::none)) return otherwise;
    std::int64_t index = part.as_integer();
    if (index < 0) return std::max(index + length, low);
    return std::min(index, high);
  };
  Bounds bounds{place(start, by < 0 ? high : low), place(stop, by < 0 ? low : high), by, 0};
  std::int64_t span = by > 0 ? bounds.stop - bounds.start : bounds.start - bounds.stop;
  std::int64_t size = by > 0 ? by : -by;
  bounds.count = span <= 0 ? 0 : (span - 1) / size + 1;
  return bounds;
}

Value slice_text(Machine& machine, const ValueText& text, const Bounds& bounds) {
  std::string out;
  machine.step(text.bytes.size() / 16);
  if (bounds.step == 1) {
    std::size_t first = byte_offset(text.bytes, bounds.start);
    std::string_view rest = std::string_view(text.bytes).substr(first);
    out = rest.substr(0, byte_offset(rest, bounds.count));
  } else {
    auto all = characters(text.bytes);
    for (std::int64_t i = 0; i < bounds.count; ++i)
      out += all[static_cast<std::size_t>(bounds.start + i * bounds.step)];
  }
  return text.markup ? Value::markup(std::move(out)) : machine.string(std::move(out));
}

}  // namespace

void fail_undefined(Machine& machine, const Value& value) {
  machine.fail("{}", value.hint().empty() ? std::string_view("a value is undefined") : value.hint());
}

bool is_callable(const Value& value) {
  return value.is(ValueKind::undefined) || (value.is(ValueKind::object) && object_of(value).is_callable());
}

Value call_value(Machine& machine, const Value& function, Args& args) {
  if (function.is(ValueKind::undefined)) fail_undefined(machine, function);
  if (!function.is(ValueKind::object)) machine.fail("a value of type {} cannot be called", type_name(function));
  return object_of(function).call(machine, args);
}

bool python_attribute(Machine& machine, const Value& object, const std::string& name, Value& out) {
  if (object.is(ValueKind::undefined) && !is_object_attribute(name)) fail_undefined(machine, object);
  if (object.is(ValueKind::object)) return object_of(object).attribute(machine, name, out);
  MethodLookup method = find_method(object, name);
  switch (method.kind) {
    case MethodKind::none: return false;
    case MethodKind::usable: out = make_object<MethodObject>(object.depth(), object, method.function); return true;
    case MethodKind::unsafe:
      out = Value::undefined(fmt::format("access to attribute '{}' of '{}' object is unsafe", name, type_name(object)));
      return true;
    case MethodKind::unsupported: machine.fail("'{}' of a value of type {} is not supported", name, type_name(object));
  }
  return false;
}

Value get_attribute(Machine& machine, const Value& object, const std::string& name) {
  Value out;
  if (python_attribute(machine, object, name, out)) return out;
  if (is_dunder(name)) {
    // Most of these exist in Python and are unsafe; as a key of a dict they are not told apart here.
    if (object.is(ValueKind::map) && object.entries().find(name))
      machine.fail("'.{}' is not supported; use ['{}']", name, name);
    return Value::undefined(fmt::format("access to attribute '{}' of '{}' object is unsafe", name, type_name(object)));
  }
  if (object.is(ValueKind::map)) {
    const Value* found = object.entries().find(name);
    if (found) return *found;
  }
  return no_attribute(object, name);
}

Value get_item(Machine& machine, const Value& object, const Value& key) {
  if (object.is(ValueKind::undefined)) fail_undefined(machine, object);
  Value out;
  if (python_item(machine, object, key, out)) return out;
  if (key.is(ValueKind::string)) {
    if (python_attribute(machine, object, key.as_string(), out)) return out;
    return no_attribute(object, key.as_string());
  }
  return Value::undefined(fmt::format("{} has no element {}", quoted_type(object), to_repr(machine, key)));
}

Value get_slice(Machine& machine, const Value& object, const Value& start, const Value& stop, const Value& step) {
  if (object.is(ValueKind::undefined)) fail_undefined(machine, object);
  auto* range = object_as<RangeObject>(object);
  bool items = object.is(ValueKind::list) || object.is(ValueKind::tuple);
  if (!items && !range && !object.is(ValueKind::string))
    machine.fail("a value of type {} cannot be sliced", type_name(object));
  Bounds bounds = slice_bounds(machine, length(machine, object), start, stop, step);
  if (object.is(ValueKind::string)) return slice_text(machine, object.text(), bounds);
  if (range) return make_range(machine, range->at(bounds.start), range->at(bounds.stop), range->step * bounds.step);
  machine.step(static_cast<std::uint64_t>(bounds.count));
  std::vector<Value> taken;
  for (std::int64_t i = 0; i < bounds.count; ++i)
    taken.push_back(object.items()[static_cast<std::size_t>(bounds.start + i * bounds.step)]);
  return object.is(ValueKind::list) ? machine.list(std::move(taken)) : machine.tuple(std::move(taken));
}

}  // namespace ridge::text::jinja
