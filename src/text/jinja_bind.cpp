#include "text/jinja_bind.h"

#include <algorithm>
#include <deque>

#include "base/error.h"
#include "text/jinja_builtins.h"
#include "text/jinja_symbols.h"
#include "text/jinja_undeclared.h"

namespace ridge::text::jinja {
namespace {

ExprPtr copy_target(const Expr& target) {
  auto copy = std::make_unique<Expr>();
  copy->kind = target.kind;
  copy->line = target.line;
  copy->name = target.name;
  copy->text = target.text;
  for (const ExprPtr& child : target.children) copy->children.push_back(copy_target(*child));
  return copy;
}

struct Frame {
  Symbols symbols;
  bool soft = false;     // inside an `if`: unknown filters are an error only when they are used
  bool in_loop = false;  // a loop of the same function surrounds this: break and continue work
};

enum class Store : std::uint8_t { assigned, parameter };

class Binder {
 public:
  void run(Tree& tree) {
    if (!find_undeclared(tree.body, {"self"}).empty()) fail_input("chat template: the name 'self' is not supported");
    Unit& unit = new_unit(nullptr, tree.scope);
    Frame frame{Symbols(nullptr, unit)};
    visit(frame.symbols, tree.body);
    tree.loads = frame.symbols.entry_loads(unit);
    bind_body(tree.body, frame);
  }

 private:
  Unit& new_unit(Unit* parent, FunctionScope& scope) {
    if (parent) parent->scope->keeps_variables = true;
    units_.push_back({parent, &scope, {}});
    return units_.back();
  }

  // Copies of a scope's names cost time; a template that needs very many is refused.
  Symbols branch_of(const Symbols& symbols, int line) {
    work_ += symbols.size() + 1;
    if (work_ > max_work) fail_input("chat template, line {}: too many variables in too many branches", line);
    return symbols;
  }

  // ---- Which names a scope has: jinja2.idtracking.FrameSymbolVisitor ----

  void visit(Symbols& symbols, const Expr* node) {
    if (!node) return;
    if (node->kind == ExprKind::name) symbols.load(node->name);
    for (const ExprPtr& child : node->children) visit(symbols, child.get());
    for (const auto& keyword : node->keywords) visit(symbols, keyword.second.get());
    visit(symbols, node->spread.get());
    visit(symbols, node->spread_map.get());
  }

  void visit_target(Symbols& symbols, const Expr& node, Store store) {
    if (node.kind == ExprKind::attribute_ref) symbols.load(node.name);
    if (node.kind == ExprKind::name) {
      if (store == Store::parameter) symbols.declare_parameter(node.name);
      else symbols.store(node.name);
    }
    for (const ExprPtr& child : node.children) visit_target(symbols, *child, store);
  }

  void visit(Symbols& symbols, const Body& body) {
    for (const StmtPtr& node : body) visit(symbols, *node);
  }

  void visit(Symbols& symbols, const Stmt& node) {
    switch (node.kind) {
      case StmtKind::output:
        for (const ExprPtr& value : node.exprs) visit(symbols, value.get());
        break;
      case StmtKind::if_else: visit_if(symbols, node); break;
      case StmtKind::macro: symbols.store(node.macro->name); break;
      case StmtKind::for_loop:
      case StmtKind::call_block:
      case StmtKind::filter_block: visit(symbols, node.value.get()); break;
      case StmtKind::set:
        visit(symbols, node.value.get());
        visit_target(symbols, *node.target, Store::assigned);
        break;
      case StmtKind::set_block: visit_target(symbols, *node.target, Store::assigned); break;
      case StmtKind::with:
        for (const ExprPtr& value : node.values) visit(symbols, value.get());
        break;
      case StmtKind::data:
      case StmtKind::generation:
      case StmtKind::break_loop:
      case StmtKind::continue_loop: break;
    }
  }

  void visit_if(Symbols& symbols, const Stmt& node) {
    visit(symbols, node.branches[0].test.get());
    std::vector<Symbols> branches;
    branches.push_back(branch_of(symbols, node.line));
    visit(branches[0], node.branches[0].body);
    branches.push_back(branch_of(symbols, node.line));
    Symbols& elifs = branches[1];
    for (std::size_t i = 1; i < node.branches.size(); ++i) {
      visit(elifs, node.branches[i].test.get());
      std::vector<Symbols> one;
      one.push_back(branch_of(elifs, node.line));
      visit(one[0], node.branches[i].body);
      elifs.merge_branches(one);
    }
    branches.push_back(branch_of(symbols, node.line));
    visit(branches[2], node.otherwise);
    symbols.merge_branches(branches);
  }

  // ---- Where each use of a name finds it: jinja2.compiler.CodeGenerator ----

  Slot reference(const std::string& name, const Frame& frame, int line) {
    const Reference* found = frame.symbols.find(name);
    if (!found)
      fail_input("chat template, line {}: the name '{}' is not known here (Jinja2 fails here, too)", line, name);
    return frame.symbols.slot_of(*found, frame.symbols.unit(), line);
  }

  void bind_expression(Expr* node, const Frame& frame, bool soft) {
    if (!node) return;
    soft = soft || node->kind == ExprKind::conditional;
    if (node->kind == ExprKind::name || node->kind == ExprKind::attribute_ref)
      node->slot = reference(node->name, frame, node->line);
    if (node->kind == ExprKind::filter) {
      node->filter = find_filter(node->name);
      if (!node->filter && !soft)
        fail_input("chat template, line {}: there is no filter named '{}'", node->line, node->name);
    }
    if (node->kind == ExprKind::test) {
      node->test = find_test(node->name);
      if (!node->test && !soft)
        fail_input("chat template, line {}: there is no test named '{}'", node->line, node->name);
    }
    for (const ExprPtr& child : node->children) bind_expression(child.get(), frame, soft);
    for (const auto& keyword : node->keywords) bind_expression(keyword.second.get(), frame, soft);
    bind_expression(node->spread.get(), frame, soft);
    bind_expression(node->spread_map.get(), frame, soft);
  }
  void bind_expression(const ExprPtr& node, const Frame& frame) { bind_expression(node.get(), frame, frame.soft); }

  void bind_body(Body& body, Frame& frame) {
    for (const StmtPtr& node : body) bind_statement(*node, frame);
  }

  void bind_statement(Stmt& node, Frame& frame) {
    switch (node.kind) {
      case StmtKind::data: break;
      case StmtKind::output:
        for (const ExprPtr& value : node.exprs) bind_expression(value, frame);
        break;
      case StmtKind::if_else: bind_if(node, frame); break;
      case StmtKind::for_loop: bind_for(node, frame); break;
      case StmtKind::macro:
        bind_macro(*node.macro, frame, node.line);
        node.name_slot = reference(node.macro->name, frame, node.line);
        break;
      case StmtKind::generation: bind_macro(*node.macro, frame, node.line); break;
      case StmtKind::call_block:
        bind_macro(*node.macro, frame, node.line);
        bind_expression(node.value, frame);
        break;
      case StmtKind::set:
        bind_expression(node.value, frame);
        bind_expression(node.target, frame);
        break;
      case StmtKind::set_block:
      case StmtKind::filter_block:
      case StmtKind::with: bind_block(node, frame); break;
      case StmtKind::break_loop:
      case StmtKind::continue_loop:
        if (!frame.in_loop) fail_input("chat template, line {}: 'break' or 'continue' outside a loop", node.line);
        break;
    }
  }

  void bind_if(Stmt& node, Frame& frame) {
    bool was_soft = std::exchange(frame.soft, true);
    for (Branch& branch : node.branches) {
      bind_expression(branch.test, frame);
      bind_body(branch.body, frame);
    }
    bind_body(node.otherwise, frame);
    frame.soft = was_soft;
  }

  // Blocks with a scope in the same function: with, filter and set blocks.
  void bind_block(Stmt& node, Frame& frame) {
    Frame inner{Symbols(&frame.symbols, frame.symbols.unit()), false, frame.in_loop};
    if (node.kind == StmtKind::with)
      for (const ExprPtr& target : node.exprs) visit_target(inner.symbols, *target, Store::parameter);
    visit(inner.symbols, node.body);
    if (node.kind == StmtKind::filter_block) visit(inner.symbols, node.value.get());
    node.loads = inner.symbols.entry_loads(frame.symbols.unit());
    for (const ExprPtr& value : node.values) bind_expression(value, frame);
    for (const ExprPtr& target : node.exprs) bind_expression(target, inner);
    bind_body(node.body, inner);
    if (node.target) bind_expression(node.target, frame);
    bind_expression(node.value, inner);
  }

  void bind_for(Stmt& node, Frame& frame) {
    Unit& unit = frame.symbols.unit();
    Unit& loop_unit = node.recursive ? new_unit(&unit, node.recursive_scope) : unit;
    Frame loop{Symbols(&frame.symbols, loop_unit), false, true};
    node.uses_loop = node.recursive || !find_undeclared(node.body, {"loop"}).empty();
    if (node.uses_loop) loop.symbols.declare_parameter("loop");
    visit_target(loop.symbols, *node.target, Store::parameter);
    visit(loop.symbols, node.body);
    if (int line = find_assignment(node, "loop"))
      fail_input("chat template, line {}: cannot assign to 'loop' in a loop", line);

    if (node.condition) {
      Unit& test_unit = new_unit(&unit, node.test_scope);
      Frame test{Symbols(&frame.symbols, test_unit)};
      node.test_target = copy_target(*node.target);
      visit_target(test.symbols, *node.test_target, Store::parameter);
      visit(test.symbols, node.condition.get());
      node.test_loads = test.symbols.entry_loads(test_unit);
      bind_expression(node.test_target, test);
      bind_expression(node.condition, test);
    }

    node.loads = loop.symbols.entry_loads(loop_unit);
    if (node.uses_loop) node.loop_slot = reference("loop", loop, node.line).index;
    bind_expression(node.value, frame);
    bind_expression(node.target, loop);
    bind_body(node.body, loop);

    Frame otherwise{Symbols(&frame.symbols, loop_unit), false, frame.in_loop && !node.recursive};
    visit(otherwise.symbols, node.otherwise);
    node.otherwise_loads = otherwise.symbols.entry_loads(loop_unit);
    bind_body(node.otherwise, otherwise);
  }

  void bind_macro(MacroParts& macro, Frame& frame, int line) {
    Unit& unit = new_unit(&frame.symbols.unit(), macro.scope);
    Frame inner{Symbols(&frame.symbols, unit)};
    for (const std::string& param : macro.params) inner.symbols.declare_parameter(param);
    for (const ExprPtr& value : macro.defaults) visit(inner.symbols, value.get());
    visit(inner.symbols, macro.body);

    auto has_param = [&](std::string_view name) {
      return std::find(macro.params.begin(), macro.params.end(), name) != macro.params.end();
    };
    std::set<std::string> special = find_undeclared(macro.body, {"caller", "kwargs", "varargs"});
    if (special.contains("caller") && has_param("caller")) {
      std::size_t index = std::find(macro.params.begin(), macro.params.end(), "caller") - macro.params.begin();
      if (index < macro.params.size() - macro.defaults.size())
        fail_input("chat template, line {}: the parameter 'caller' must be left out or have a default", line);
    }
    macro.reads_caller = special.contains("caller");
    auto declare = [&](const std::string& name, int& slot) {
      if (!special.contains(name) || has_param(name)) return;
      inner.symbols.declare_parameter(name);
      slot = reference(name, inner, line).index;
    };
    declare("caller", macro.caller_slot);
    declare("kwargs", macro.kwargs_slot);
    declare("varargs", macro.varargs_slot);
    for (const std::string& param : macro.params) macro.param_slots.push_back(reference(param, inner, line).index);
    macro.loads = inner.symbols.entry_loads(unit);
    for (const ExprPtr& value : macro.defaults) bind_expression(value, inner);
    bind_body(macro.body, inner);
  }

  static constexpr std::size_t max_work = 20'000'000;
  std::deque<Unit> units_;
  std::size_t work_ = 0;
};

}  // namespace

void bind(Tree& tree) { Binder().run(tree); }

}  // namespace ridge::text::jinja
