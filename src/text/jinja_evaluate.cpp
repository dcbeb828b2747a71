#include "text/jinja_evaluate.h"

#include "text/jinja_builtins.h"
#include "text/jinja_loop.h"
#include "text/jinja_objects.h"
#include "text/jinja_python.h"

namespace ridge::text::jinja {

Evaluator::~Evaluator() {
  // Everything that can be part of a cycle is held by `kept`, so emptying one object frees no other of them.
  for (const auto& object : machine_.kept) {
    if (auto* space = dynamic_cast<NamespaceObject*>(object.get())) space->attributes = {};
    if (auto* loop = dynamic_cast<LoopObject*>(object.get())) loop->last_changed.reset();
  }
  for (Activation& activation : kept_) activation.slots.clear();
  machine_.kept.clear();
}

Scope::Scope(Evaluator& evaluator, const FunctionScope& function, Activation* parent) : variables_(&own_) {
  auto count = static_cast<std::size_t>(function.slot_count);
  evaluator.machine_.charge(64 + count * sizeof(Value));
  if (function.keeps_variables) variables_ = &evaluator.kept_.emplace_back();
  variables_->slots.resize(count);
  variables_->parent = parent;
}

std::string Evaluator::run(const Tree& tree) {
  Scope scope(*this, tree.scope, nullptr);
  enter(tree.loads, scope.variables());
  std::string out;
  execute(tree.body, scope.variables(), out);
  return out;
}

Value& Evaluator::variable(const Slot& slot, Activation& variables) {
  Activation* at = &variables;
  for (int i = 0; i < slot.outward; ++i) at = at->parent;
  return at->slots[static_cast<std::size_t>(slot.index)];
}

void Evaluator::enter(const std::vector<Load>& loads, Activation& variables) {
  machine_.step(loads.size());
  for (const Load& load : loads) {
    Value& target = variables.slots[static_cast<std::size_t>(load.target)];
    switch (load.kind) {
      case LoadKind::clear: target = Value(); break;
      case LoadKind::alias: target = variable(load.source, variables); break;
      case LoadKind::resolve: {
        const Value* found = context_.entries().find(load.name);
        if (!found) found = global_values().find(load.name);
        target = found ? *found : Value();
        break;
      }
    }
  }
}

void Evaluator::leave(const std::vector<Load>& loads, Activation& variables) {
  for (const Load& load : loads) variables.slots[static_cast<std::size_t>(load.target)] = Value();
}

Value Evaluator::evaluate(const Expr& node, Activation& variables) {
  Deeper deeper(machine_);
  machine_.step();
  machine_.line = node.line;
  auto child = [&](std::size_t i) { return evaluate(*node.children[i], variables); };
  switch (node.kind) {
    case ExprKind::constant: return node.value;
    case ExprKind::name: {
      const Value& value = variable(node.slot, variables);
      if (value.is(ValueKind::undefined) && !value.node())
        return Value::undefined(fmt::format("'{}' is undefined", node.name));
      return value;
    }
    case ExprKind::tuple:
    case ExprKind::list:
    case ExprKind::dict: return evaluate_items(node, variables);
    case ExprKind::binary: return evaluate_binary(node, variables);
    case ExprKind::negate: return negate(machine_, child(0));
    case ExprKind::plus: return plus(machine_, child(0));
    case ExprKind::logic_not: return Value::boolean(!is_truthy(machine_, child(0)));
    case ExprKind::logic_and: {
      Value left = child(0);
      return is_truthy(machine_, left) ? child(1) : left;
    }
    case ExprKind::logic_or: {
      Value left = child(0);
      return is_truthy(machine_, left) ? left : child(1);
    }
    case ExprKind::compare: return evaluate_compare(node, variables);
    case ExprKind::concat: {
      std::string text;
      for (std::size_t i = 0; i < node.children.size(); ++i) {
        text += to_str(machine_, child(i));
        machine_.charge(text.size() / 4);
      }
      return machine_.string(std::move(text));
    }
    case ExprKind::conditional:
      if (is_truthy(machine_, child(0))) return child(1);
      if (node.children[2]) return child(2);
      return Value::undefined(
          fmt::format("the inline if-expression on line {} evaluated to false and has no else", node.line));
    case ExprKind::getattr: {
      Value object = child(0);
      machine_.line = node.line;
      return get_attribute(machine_, object, node.name);
    }
    case ExprKind::getitem: return evaluate_getitem(node, variables);
    case ExprKind::call: return evaluate_call(node, variables, nullptr);
    case ExprKind::filter: return evaluate_filter(node, variables, nullptr);
    case ExprKind::test: return evaluate_test(node, variables);
    case ExprKind::slice:
    case ExprKind::attribute_ref: break;
  }
  fail_bug("chat template, line {}: an expression that has no value", node.line);
}

Value Evaluator::evaluate_binary(const Expr& node, Activation& variables) {
  Value left = evaluate(*node.children[0], variables);
  Value right = evaluate(*node.children[1], variables);
  machine_.line = node.line;
  return arithmetic(machine_, node.op, left, right);
}

Value Evaluator::evaluate_compare(const Expr& node, Activation& variables) {
  Value left = evaluate(*node.children[0], variables);
  for (std::size_t i = 0; i < node.ops.size(); ++i) {
    Value right = evaluate(*node.children[i + 1], variables);
    machine_.line = node.line;
    if (!compares(machine_, node.ops[i], left, right)) return Value::boolean(false);
    left = std::move(right);
  }
  return Value::boolean(true);
}

Value Evaluator::evaluate_items(const Expr& node, Activation& variables) {
  if (node.kind == ExprKind::dict) {
    ValueMap map;
    for (std::size_t i = 0; i < node.children.size(); i += 2) {
      Value key = evaluate(*node.children[i], variables);
      Value value = evaluate(*node.children[i + 1], variables);
      machine_.line = node.line;
      if (!map.set(key, std::move(value))) machine_.fail("a {} cannot be a key", type_name(key));
    }
    return machine_.map(std::move(map));
  }
  std::vector<Value> items;
  items.reserve(node.children.size());
  for (const ExprPtr& child : node.children) items.push_back(evaluate(*child, variables));
  return node.kind == ExprKind::list ? machine_.list(std::move(items)) : machine_.tuple(std::move(items));
}

Value Evaluator::evaluate_getitem(const Expr& node, Activation& variables) {
  Value object = evaluate(*node.children[0], variables);
  const Expr& key = *node.children[1];
  if (key.kind != ExprKind::slice) {
    Value index = evaluate(key, variables);
    machine_.line = node.line;
    return get_item(machine_, object, index);
  }
  auto part = [&](const ExprPtr& value) { return value ? evaluate(*value, variables) : Value::none(); };
  Value start = part(key.children[0]), stop = part(key.children[1]), step = part(key.children[2]);
  machine_.line = node.line;
  return get_slice(machine_, object, start, stop, step);
}

Args Evaluator::arguments(const Expr& node, Activation& variables) {
  Args args;
  for (std::size_t i = 1; i < node.children.size(); ++i)
    args.positional.push_back(evaluate(*node.children[i], variables));
  for (const auto& [name, value] : node.keywords) args.named.emplace_back(name, evaluate(*value, variables));
  if (node.spread)
    for (Value& item : to_items(machine_, evaluate(*node.spread, variables)))
      args.positional.push_back(std::move(item));
  if (node.spread_map) {
    Value map = evaluate(*node.spread_map, variables);
    machine_.line = node.line;
    if (map.is(ValueKind::undefined)) fail_undefined(machine_, map);
    if (!map.is(ValueKind::map)) machine_.fail("'**' in a call needs a dict, not {}", type_name(map));
    machine_.step(map.entries().size() * (args.named.size() + 1));
    for (const auto& [key, value] : map.entries().entries()) {
      if (!key.is(ValueKind::string)) machine_.fail("'**' in a call needs keys that are strings");
      for (const auto& known : args.named)
        if (known.first == key.as_string()) machine_.fail("the argument '{}' is given twice", known.first);
      args.named.emplace_back(key.as_string(), value);
    }
  }
  machine_.line = node.line;
  return args;
}

Value Evaluator::evaluate_call(const Expr& node, Activation& variables, const Value* caller) {
  Value function = evaluate(*node.children[0], variables);
  Args args = arguments(node, variables);
  if (caller) {
    for (const auto& known : args.named)
      if (known.first == "caller") machine_.fail("the argument 'caller' is given twice");
    args.named.emplace_back("caller", *caller);
  }
  return call_value(machine_, function, args);
}

Value Evaluator::evaluate_filter(const Expr& node, Activation& variables, const Value* block_text) {
  Value input = node.children[0] ? node.children[0]->kind == ExprKind::filter
                                       ? evaluate_filter(*node.children[0], variables, block_text)
                                       : evaluate(*node.children[0], variables)
                                 : *block_text;
  Args args = arguments(node, variables);
  if (!node.filter) machine_.fail("there is no filter named '{}'", node.name);
  return node.filter(machine_, input, args);
}

Value Evaluator::evaluate_test(const Expr& node, Activation& variables) {
  Value input = evaluate(*node.children[0], variables);
  Args args = arguments(node, variables);
  if (!node.test) machine_.fail("there is no test named '{}'", node.name);
  return Value::boolean(node.test(machine_, input, args));
}

}  // namespace ridge::text::jinja
