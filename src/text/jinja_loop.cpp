#include "text/jinja_loop.h"

#include "text/jinja_objects.h"
#include "text/jinja_python.h"

namespace ridge::text::jinja {
namespace {

Value loop_cycle(Machine& machine, Object& self, Args& args) {
  if (!args.named.empty() || args.positional.empty()) machine.fail("'loop.cycle' needs the values to go through");
  auto count = static_cast<std::int64_t>(args.positional.size());
  std::int64_t index = static_cast<LoopObject&>(self).index0 % count;
  return args.positional[static_cast<std::size_t>(index < 0 ? index + count : index)];
}

Value loop_changed(Machine& machine, Object& self, Args& args) {
  if (!args.named.empty()) machine.fail("'loop.changed' takes no named arguments");
  return Value::boolean(static_cast<LoopObject&>(self).changed(machine, args.positional));
}

class LoopRest : public Iterator {
 public:
  explicit LoopRest(std::shared_ptr<LoopObject> loop) : loop_(std::move(loop)) {}
  bool next(Machine& machine, Value& out) override {
    Value item;
    if (!loop_->advance(machine, item)) return false;
    machine.fail("iterating over 'loop' is not supported");
    out = item;
    return true;
  }

 private:
  std::shared_ptr<LoopObject> loop_;
};

}  // namespace

LoopObject::LoopObject(Machine& machine, Value from, std::shared_ptr<Iterator> source)
    : items(std::move(from)), iterator(std::move(source)) {
  depth = items.depth() + 2;
  if (depth > max_value_depth) machine.fail("values nested deeper than {} are not accepted", max_value_depth);
}

bool LoopObject::advance(Machine& machine, Value& out) {
  if (has_next) {
    out = std::move(next);
    has_next = false;
  } else if (!iterator->next(machine, out)) {
    return false;
  }
  ++index0;
  before = std::move(current);
  current = out;
  return true;
}

bool LoopObject::peek(Machine& machine) {
  if (!has_next) has_next = iterator->next(machine, next);
  return has_next;
}

std::int64_t LoopObject::length(Machine& machine) {
  if (known_length) return *known_length;
  known_length = try_length(machine, items);
  if (!known_length) {
    std::vector<Value> rest;
    for (Value item; iterator->next(machine, item);) {
      machine.charge(sizeof(Value));
      rest.push_back(item);
    }
    known_length = static_cast<std::int64_t>(rest.size()) + index0 + 1 + (has_next ? 1 : 0);
    iterator = iterate_items(std::move(rest));
  }
  return *known_length;
}

std::shared_ptr<Iterator> LoopObject::iterate(Machine&) { return std::make_shared<LoopRest>(self.lock()); }

bool LoopObject::changed(Machine& machine, std::vector<Value> values) {
  bool same = last_changed && last_changed->size() == values.size();
  for (std::size_t i = 0; same && i < values.size(); ++i) same = jinja::equals(machine, (*last_changed)[i], values[i]);
  if (same) return false;
  if (!last_changed) machine.kept.push_back(self.lock());  // the values may hold this loop
  last_changed = std::move(values);
  return true;
}

bool LoopObject::attribute(Machine& machine, const std::string& name, Value& out) {
  if (name == "index") out = Value::integer(index0 + 1);
  else if (name == "index0") out = Value::integer(index0);
  else if (name == "first") out = Value::boolean(index0 == 0);
  else if (name == "last") out = Value::boolean(!peek(machine));
  else if (name == "length") out = Value::integer(length(machine));
  else if (name == "revindex") out = Value::integer(length(machine) - index0);
  else if (name == "revindex0") out = Value::integer(length(machine) - index0 - 1);
  else if (name == "previtem") out = index0 == 0 ? Value::undefined("there is no previous item") : before;
  else if (name == "nextitem") out = peek(machine) ? next : Value::undefined("there is no next item");
  else if (name == "depth") out = Value::integer(depth0 + 1);
  else if (name == "depth0") out = Value::integer(depth0);
  else if (name == "cycle") out = make_object<ObjectMethod>(depth, self.lock(), loop_cycle);
  else if (name == "changed") out = make_object<ObjectMethod>(depth, self.lock(), loop_changed);
  else return false;
  return true;
}

Value LoopObject::call(Machine& machine, Args& args) {
  if (!body) machine.fail("the loop must have the 'recursive' marker to be called");
  if (args.positional.size() != 1 || !args.named.empty()) machine.fail("'loop' takes one argument, the items");
  return machine.string(evaluator->run_recursive(*body, *definer, args.positional[0], depth0 + 1));
}

std::string LoopObject::represent(Machine& machine, int) {
  return fmt::format("<LoopContext {}/{}>", index0 + 1, length(machine));
}

ConditionIterator::ConditionIterator(Evaluator& evaluator, const Stmt& loop, Activation& definer,
                                     std::shared_ptr<Iterator> source)
    : evaluator_(evaluator), loop_(loop), source_(std::move(source)) {
  variables_.slots.resize(static_cast<std::size_t>(loop.test_scope.slot_count));
  variables_.parent = &definer;
}

namespace {

// What `yield target` gives: tuples are made anew from their parts.
Value read_target(Machine& machine, const Expr& target, const Activation& variables) {
  if (target.kind == ExprKind::name) return variables.slots[static_cast<std::size_t>(target.slot.index)];
  std::vector<Value> parts;
  for (const ExprPtr& child : target.children) parts.push_back(read_target(machine, *child, variables));
  return machine.tuple(std::move(parts));
}

}  // namespace

bool ConditionIterator::next(Machine& machine, Value& out) {
  Deeper deeper(machine);
  if (!std::exchange(entered_, true)) evaluator_.enter(loop_.test_loads, variables_);
  for (Value item; source_->next(machine, item);) {
    evaluator_.assign(*loop_.test_target, variables_, item);
    if (!is_truthy(machine, evaluator_.evaluate(*loop_.condition, variables_))) continue;
    out = read_target(machine, *loop_.test_target, variables_);
    return true;
  }
  return false;
}

bool MacroObject::attribute(Machine& machine, const std::string& name, Value& out) {
  if (name == "name") out = parts.name.empty() ? Value::none() : machine.string(parts.name);
  else if (name == "catch_kwargs") out = Value::boolean(parts.kwargs_slot >= 0);
  else if (name == "catch_varargs") out = Value::boolean(parts.varargs_slot >= 0);
  else if (name == "caller") out = Value::boolean(parts.reads_caller);
  else if (name == "arguments") {
    std::vector<Value> names;
    for (const std::string& param : parts.params) names.push_back(machine.string(param));
    out = machine.tuple(std::move(names));
  } else return false;
  return true;
}

Value MacroObject::call(Machine& machine, Args& args) {
  return machine.string(evaluator.run_macro(parts, closure, args));
}

std::string MacroObject::represent(Machine&, int) {
  return parts.name.empty() ? "<Macro anonymous>" : "<Macro " + string_repr(parts.name) + ">";
}

}  // namespace ridge::text::jinja
