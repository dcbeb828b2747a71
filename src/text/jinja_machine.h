// What a running template needs beyond its tree: limits that are charged as it goes, and objects that only exist while
// it runs (iterators, functions, namespaces ...).
#pragma once
#include <fmt/core.h>

#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "text/template.h"
#include "text/template_value.h"

namespace ridge::text::jinja {

// Arguments of a call. Functions take what they know out of it and check that nothing is left (jinja_arguments.h).
struct Args {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
};

struct Machine;

// Yields values one by one, lazily, as Python's iterators do.
class Iterator {
 public:
  virtual ~Iterator() = default;
  virtual bool next(Machine& machine, Value& out) = 0;  // false at the end
};

// An object of the running template. What a kind of object cannot do, it leaves as it is here.
struct Object : ValueNode {
  virtual ~Object() = default;
  virtual std::string_view type_name() const = 0;
  virtual bool truth(Machine&) { return true; }
  virtual std::int64_t length(Machine&) { return -1; }                     // -1: has no length
  virtual std::shared_ptr<Iterator> iterate(Machine&) { return nullptr; }  // null: cannot be iterated
  virtual std::shared_ptr<Iterator> reversed(Machine&) { return nullptr; }
  virtual bool attribute(Machine&, const std::string&, Value&) { return false; }
  virtual bool item(Machine&, const Value&, Value&) { return false; }
  virtual bool is_sequence() { return false; }
  virtual bool is_callable() { return false; }
  virtual bool equals(Machine&, Object& other) { return this == &other; }
  virtual Value call(Machine& machine, Args& args);
  virtual std::string represent(Machine& machine, int level);  // Python's repr
};

struct Machine {
  Limits limits;
  std::tm now{};
  int line = 0;  // of what is being computed, for errors
  std::uint64_t steps = 0;
  std::uint64_t bytes = 0;  // of all text and containers made so far
  int depth = 0;            // of evaluation in itself
  // Objects that may take part in cycles; they are emptied when the rendering is over.
  std::vector<std::shared_ptr<Object>> kept;

  template <class... A> [[noreturn]] void fail(fmt::format_string<A...> format, A&&... args) const {
    fail_input("chat template, line {}: {}", line, fmt::format(format, std::forward<A>(args)...));
  }
  void step(std::uint64_t count = 1) {
    steps += count;
    if (steps > limits.steps) fail("it takes more than {} steps", limits.steps);
  }
  void charge(std::uint64_t count) {
    bytes += count;
    if (bytes > limits.bytes) fail("it makes more than {} bytes of text and lists", limits.bytes);
  }
  // Makes a string or container and charges for it.
  Value string(std::string text);
  Value list(std::vector<Value> items);
  Value tuple(std::vector<Value> items);
  Value map(ValueMap entries);
};

// Counts how deep evaluation is in itself, so that no input can exhaust the stack.
class Deeper {
 public:
  explicit Deeper(Machine& machine) : machine_(machine) {
    if (++machine_.depth > machine_.limits.depth) {
      --machine_.depth;
      machine_.fail("calls and expressions nested deeper than {} while it runs", machine_.limits.depth);
    }
  }
  ~Deeper() { --machine_.depth; }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;

 private:
  Machine& machine_;
};

inline Object& object_of(const Value& value) { return *static_cast<Object*>(value.node().get()); }

// The object as one of a known kind, or null.
template <class T> T* object_as(const Value& value) {
  return value.is(ValueKind::object) ? dynamic_cast<T*>(&object_of(value)) : nullptr;
}

template <class T, class... A> Value make_object(int inner_depth, A&&... args) {
  auto object = std::make_shared<T>(std::forward<A>(args)...);
  if (inner_depth >= max_value_depth)
    fail_input("chat template: values nested deeper than {} are not accepted", max_value_depth);
  object->depth = inner_depth + 1;
  return Value::object(std::move(object));
}

}  // namespace ridge::text::jinja
