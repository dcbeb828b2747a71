#include "text/jinja_undeclared.h"

namespace ridge::text::jinja {
namespace {

struct Finder {
  std::set<std::string> names;
  std::set<std::string> found;

  void use(const std::string& name) {
    if (names.contains(name)) found.insert(name);
  }

  void expression(const Expr* node) {
    if (!node) return;
    if (node->kind == ExprKind::name) use(node->name);
    for (const ExprPtr& child : node->children) expression(child.get());
    for (const auto& keyword : node->keywords) expression(keyword.second.get());
    expression(node->spread.get());
    expression(node->spread_map.get());
  }

  void target(const Expr& node) {
    if (node.kind == ExprKind::name) names.erase(node.name);
    for (const ExprPtr& child : node.children) target(*child);
  }

  void macro(const MacroParts& parts) {
    for (const std::string& param : parts.params) names.erase(param);
    for (const ExprPtr& value : parts.defaults) expression(value.get());
    body(parts.body);
  }

  void body(const Body& statements) {
    for (const StmtPtr& node : statements) statement(*node);
  }

  void statement(const Stmt& node) {
    if (node.kind == StmtKind::filter_block) {  // its body comes before the filter
      body(node.body);
      expression(node.value.get());
      return;
    }
    if (node.target) target(*node.target);
    if (node.kind == StmtKind::with)
      for (const ExprPtr& name : node.exprs) target(*name);
    else
      for (const ExprPtr& value : node.exprs) expression(value.get());
    for (const ExprPtr& value : node.values) expression(value.get());
    expression(node.value.get());
    if (node.macro) macro(*node.macro);
    for (const Branch& branch : node.branches) {
      expression(branch.test.get());
      body(branch.body);
    }
    body(node.body);
    body(node.otherwise);
    expression(node.condition.get());
  }
};

bool assigns(const Expr& target, const std::string& name) {
  if (target.kind == ExprKind::name) return target.name == name;
  for (const ExprPtr& child : target.children)
    if (assigns(*child, name)) return true;
  return false;
}

int find_in(const Body& body, const std::string& name) {
  for (const StmtPtr& node : body)
    if (int line = find_assignment(*node, name)) return line;
  return 0;
}

}  // namespace

std::set<std::string> find_undeclared(const Body& body, std::set<std::string> names) {
  Finder finder{std::move(names), {}};
  finder.body(body);
  return finder.found;
}

int find_assignment(const Stmt& node, const std::string& name) {
  if (node.target && assigns(*node.target, name)) return node.line;
  for (const Branch& branch : node.branches)
    if (int line = find_in(branch.body, name)) return line;
  if (int line = find_in(node.body, name)) return line;
  if (int line = find_in(node.otherwise, name)) return line;
  return node.macro ? find_in(node.macro->body, name) : 0;
}

}  // namespace ridge::text::jinja
