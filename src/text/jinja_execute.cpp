// Statements.
#include <utility>

#include "text/jinja_evaluate.h"
#include "text/jinja_loop.h"
#include "text/jinja_objects.h"
#include "text/jinja_python.h"

namespace ridge::text::jinja {

void Evaluator::write(std::string_view text, std::string& out) {
  out += text;
  machine_.charge(text.size());
  if (out.size() > machine_.limits.output_bytes)
    machine_.fail("the text is longer than {} bytes", machine_.limits.output_bytes);
}

void Evaluator::write_text(const Value& value, std::string& out) {
  if (!value.is(ValueKind::string)) machine_.fail("a block must give text, not {}", type_name(value));
  write(value.as_string(), out);
}

Flow Evaluator::execute(const Body& body, Activation& variables, std::string& out) {
  for (const StmtPtr& node : body) {
    Flow flow = execute(*node, variables, out);
    if (flow != Flow::normal) return flow;
  }
  return Flow::normal;
}

Flow Evaluator::execute(const Stmt& node, Activation& variables, std::string& out) {
  Deeper deeper(machine_);
  machine_.step();
  machine_.line = node.line;
  switch (node.kind) {
    case StmtKind::data: write(node.text, out); break;
    case StmtKind::output:
      for (const ExprPtr& value : node.exprs) write(to_str(machine_, evaluate(*value, variables)), out);
      break;
    case StmtKind::if_else: return execute_if(node, variables, out);
    case StmtKind::for_loop: {
      Value items = evaluate(*node.value, variables);
      machine_.line = node.line;
      if (node.recursive) write(run_recursive(node, variables, items, 0), out);
      else return execute_loop(node, variables, variables, items, 0, out);
      break;
    }
    case StmtKind::macro: variable(node.name_slot, variables) = make_macro(*node.macro, variables); break;
    case StmtKind::call_block: execute_call_block(node, variables, out); break;
    case StmtKind::generation: {
      Args none;
      write(run_macro(*node.macro, variables, none), out);
      break;
    }
    case StmtKind::set: {
      // Jinja2 first checks that what gets an attribute is a namespace, then computes the value.
      check_namespaces(*node.target, variables);
      assign(*node.target, variables, evaluate(*node.value, variables));
      break;
    }
    case StmtKind::set_block:
    case StmtKind::filter_block:
    case StmtKind::with: return execute_block(node, variables, out);
    case StmtKind::break_loop: return Flow::break_loop;
    case StmtKind::continue_loop: return Flow::continue_loop;
  }
  return Flow::normal;
}

Flow Evaluator::execute_if(const Stmt& node, Activation& variables, std::string& out) {
  for (const Branch& branch : node.branches)
    if (is_truthy(machine_, evaluate(*branch.test, variables))) return execute(branch.body, variables, out);
  return execute(node.otherwise, variables, out);
}

Flow Evaluator::execute_block(const Stmt& node, Activation& variables, std::string& out) {
  enter(node.loads, variables);
  for (std::size_t i = 0; i < node.exprs.size(); ++i)
    assign(*node.exprs[i], variables, evaluate(*node.values[i], variables));
  if (node.kind == StmtKind::with) {
    Flow flow = execute(node.body, variables, out);
    leave(node.loads, variables);
    return flow;
  }
  std::string text;
  Flow flow = execute(node.body, variables, text);
  if (flow != Flow::normal) return flow;
  Value value = machine_.string(std::move(text));
  machine_.line = node.line;
  if (node.value) value = evaluate_filter(*node.value, variables, &value);
  if (node.kind == StmtKind::set_block) assign(*node.target, variables, value);
  else write_text(value, out);
  leave(node.loads, variables);
  return Flow::normal;
}

void Evaluator::check_namespaces(const Expr& target, Activation& variables) {
  if (target.kind == ExprKind::attribute_ref && !object_as<NamespaceObject>(variable(target.slot, variables)))
    machine_.fail("cannot assign to the attribute '{}.{}': '{}' is not a namespace", target.name, target.text,
                  target.name);
  for (const ExprPtr& child : target.children) check_namespaces(*child, variables);
}

void Evaluator::assign_attribute(const Expr& target, Activation& variables, const Value& value) {
  auto* space = object_as<NamespaceObject>(variable(target.slot, variables));
  if (!space)
    machine_.fail("cannot assign to the attribute '{}.{}': '{}' is not a namespace", target.name, target.text,
                  target.name);
  if (target.text.starts_with('_'))
    machine_.fail("a namespace cannot have the attribute '{}': it starts with '_'", target.text);
  machine_.charge(64);
  space->attributes.set(target.text, value);
}

void Evaluator::assign(const Expr& target, Activation& variables, const Value& value) {
  machine_.line = target.line;
  if (target.kind == ExprKind::name) {
    variable(target.slot, variables) = value;
    return;
  }
  if (target.kind == ExprKind::attribute_ref) {
    assign_attribute(target, variables, value);
    return;
  }
  auto iterator = iterate(machine_, value);
  std::vector<Value> parts;
  for (Value item; parts.size() <= target.children.size() && iterator->next(machine_, item);) parts.push_back(item);
  if (parts.size() != target.children.size())
    machine_.fail("{} values to unpack, {} expected", parts.size() > target.children.size() ? "too many" : "not enough",
                  target.children.size());
  for (std::size_t i = 0; i < parts.size(); ++i) assign(*target.children[i], variables, parts[i]);
}

std::string Evaluator::run_recursive(const Stmt& loop, Activation& definer, const Value& items, int depth) {
  Deeper deeper(machine_);
  Scope scope(*this, loop.recursive_scope, &definer);
  std::string out;
  execute_loop(loop, scope.variables(), definer, items, depth, out);
  return out;
}

Flow Evaluator::execute_loop(const Stmt& node, Activation& variables, Activation& definer, const Value& items,
                             int depth, std::string& out) {
  std::shared_ptr<Iterator> source = iterate(machine_, items);
  Value walked = items;
  if (node.condition) {
    source = std::make_shared<ConditionIterator>(*this, node, definer, std::move(source));
    walked = make_generator("generator", source, items.depth());
  }
  std::shared_ptr<LoopObject> loop;
  if (node.uses_loop) {
    loop = std::make_shared<LoopObject>(machine_, walked, source);
    loop->self = loop;
    loop->depth0 = depth;
    if (node.recursive) {
      loop->evaluator = this;
      loop->body = &node;
      loop->definer = &definer;
    }
  }
  // Jinja2's flag for `else` is lowered at the end of the body, so `continue` and `break` leave it up.
  bool completed_one = false;
  for (Value item; loop ? loop->advance(machine_, item) : source->next(machine_, item);) {
    machine_.line = node.line;
    assign(*node.target, variables, item);
    if (loop) variables.slots[static_cast<std::size_t>(node.loop_slot)] = Value::object(loop);
    enter(node.loads, variables);
    Flow flow = execute(node.body, variables, out);
    if (flow == Flow::break_loop) break;
    if (flow == Flow::normal) completed_one = true;
  }
  leave(node.loads, variables);
  if (completed_one || node.otherwise.empty()) return Flow::normal;
  enter(node.otherwise_loads, variables);
  Flow flow = execute(node.otherwise, variables, out);
  leave(node.otherwise_loads, variables);
  return flow;
}

Value Evaluator::make_macro(const MacroParts& macro, Activation& closure) {
  machine_.charge(sizeof(MacroObject));
  return make_object<MacroObject>(0, *this, macro, closure);
}

void Evaluator::execute_call_block(const Stmt& node, Activation& variables, std::string& out) {
  Value caller = make_macro(*node.macro, variables);
  Value text = evaluate_call(*node.value, variables, &caller);
  machine_.line = node.line;
  write_text(text, out);
}

// As jinja2.runtime.Macro.__call__.
std::string Evaluator::run_macro(const MacroParts& macro, Activation& closure, Args& args) {
  Deeper deeper(machine_);
  std::string_view name = macro.name.empty() ? std::string_view("call block") : std::string_view(macro.name);
  auto take_named = [&](const std::string& wanted, Value& out) {
    for (auto at = args.named.begin(); at != args.named.end(); ++at) {
      if (at->first != wanted) continue;
      out = std::move(at->second);
      args.named.erase(at);
      return true;
    }
    return false;
  };

  Scope scope(*this, macro.scope, &closure);
  Activation& variables = scope.variables();
  auto slot = [&](int index) -> Value& { return variables.slots[static_cast<std::size_t>(index)]; };
  std::vector<bool> given(macro.params.size());
  for (std::size_t i = 0; i < macro.params.size(); ++i) {
    Value value;
    if (i < args.positional.size()) value = args.positional[i];
    else if (!take_named(macro.params[i], value)) continue;
    given[i] = true;
    slot(macro.param_slots[i]) = value;
  }
  if (macro.caller_slot >= 0) {
    Value caller;
    if (!take_named("caller", caller) || caller.is(ValueKind::none)) caller = Value::undefined("No caller defined");
    slot(macro.caller_slot) = caller;
  }
  if (macro.kwargs_slot >= 0) {
    ValueMap rest;
    for (auto& [key, value] : args.named) rest.set(key, std::move(value));
    slot(macro.kwargs_slot) = machine_.map(std::move(rest));
  } else if (!args.named.empty()) {
    machine_.fail("the macro '{}' takes no argument named '{}'", name, args.named[0].first);
  }
  std::size_t used = std::min(args.positional.size(), macro.params.size());
  if (macro.varargs_slot >= 0)
    slot(macro.varargs_slot) =
        machine_.tuple({args.positional.begin() + static_cast<std::ptrdiff_t>(used), args.positional.end()});
  else if (args.positional.size() > used)
    machine_.fail("the macro '{}' takes not more than {} arguments", name, macro.params.size());

  enter(macro.loads, variables);
  std::size_t first_default = macro.params.size() - macro.defaults.size();
  for (std::size_t i = 0; i < macro.params.size(); ++i) {
    if (given[i]) continue;
    slot(macro.param_slots[i]) =
        i >= first_default ? evaluate(*macro.defaults[i - first_default], variables)
                           : Value::undefined(fmt::format("parameter '{}' was not provided", macro.params[i]));
  }
  std::string out;
  execute(macro.body, variables, out);
  return out;
}

}  // namespace ridge::text::jinja
