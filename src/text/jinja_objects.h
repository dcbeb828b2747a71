// Objects that values of a running template can be, besides plain data.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/jinja_builtins.h"
#include "text/jinja_machine.h"

namespace ridge::text::jinja {

// range(start, stop, step)
struct RangeObject : Object {
  std::int64_t start = 0, stop = 0, step = 1, count = 0;

  std::string_view type_name() const override { return "range"; }
  bool truth(Machine&) override { return count > 0; }
  std::int64_t length(Machine&) override { return count; }
  std::shared_ptr<Iterator> iterate(Machine&) override;
  std::shared_ptr<Iterator> reversed(Machine&) override;
  bool item(Machine& machine, const Value& key, Value& out) override;
  bool is_sequence() override { return true; }
  bool equals(Machine&, Object& other) override;
  std::string represent(Machine& machine, int level) override;
  std::int64_t at(std::int64_t index) const { return start + index * step; }
};
Value make_range(Machine& machine, std::int64_t start, std::int64_t stop, std::int64_t step);

// dict.keys(), values(), items()
enum class ViewKind : std::uint8_t { keys, values, items };
struct ViewObject : Object {
  ViewObject(Value from, ViewKind what) : map(std::move(from)), kind(what) {}
  Value map;
  ViewKind kind;

  std::string_view type_name() const override;
  bool truth(Machine&) override { return map.entries().size() != 0; }
  std::int64_t length(Machine&) override { return static_cast<std::int64_t>(map.entries().size()); }
  std::shared_ptr<Iterator> iterate(Machine&) override;
  std::shared_ptr<Iterator> reversed(Machine&) override;
  bool equals(Machine& machine, Object& other) override;
  std::string represent(Machine& machine, int level) override;
};

// What lazy filters and reversed() give: can be walked through once.
struct GeneratorObject : Object {
  GeneratorObject(std::string_view kind, std::shared_ptr<Iterator> source) : type(kind), iterator(std::move(source)) {}
  std::string_view type;
  std::shared_ptr<Iterator> iterator;

  std::string_view type_name() const override { return type; }
  std::shared_ptr<Iterator> iterate(Machine&) override { return iterator; }
};

// namespace(...): the only value that a template can change.
struct NamespaceObject : Object {
  ValueMap attributes;

  std::string_view type_name() const override { return "namespace"; }
  bool attribute(Machine& machine, const std::string& name, Value& out) override;
  std::string represent(Machine& machine, int level) override;
};

// A global function of templates.
struct FunctionObject : Object {
  using Function = Value (*)(Machine&, Args&);
  FunctionObject(std::string_view called, Function does) : name(called), function(does) {}
  std::string_view name;
  Function function;

  std::string_view type_name() const override { return "function"; }
  bool is_callable() override { return true; }
  bool attribute(Machine& machine, const std::string& attribute, Value& out) override;
  Value call(Machine& machine, Args& args) override { return function(machine, args); }
};

// A method of a value, bound to it.
struct MethodObject : Object {
  MethodObject(Value of, MethodFunction does) : self(std::move(of)), function(does) {}
  Value self;
  MethodFunction function;

  std::string_view type_name() const override { return "method"; }
  bool is_callable() override { return true; }
  Value call(Machine& machine, Args& args) override { return function(machine, self, args); }
};

// A method of an object of the running template.
struct ObjectMethod : Object {
  using Function = Value (*)(Machine&, Object& self, Args&);
  ObjectMethod(std::shared_ptr<ValueNode> of, Function does) : self(std::move(of)), function(does) {}
  std::shared_ptr<ValueNode> self;
  Function function;

  std::string_view type_name() const override { return "method"; }
  bool is_callable() override { return true; }
  Value call(Machine& machine, Args& args) override { return function(machine, static_cast<Object&>(*self), args); }
};

}  // namespace ridge::text::jinja
