// Searches a body for uses of special names. Mirrors jinja2.compiler.UndeclaredNameVisitor, order of visits included.
#pragma once
#include <set>
#include <string>

#include "text/jinja_ast.h"

namespace ridge::text::jinja {

// Those of `names` that the body reads before it assigns them, at any depth.
std::set<std::string> find_undeclared(const Body& body, std::set<std::string> names);

// The line of an assignment to `name` by `set` or a loop's target, in a loop or anything in it; 0 if there is none.
int find_assignment(const Stmt& loop, const std::string& name);

}  // namespace ridge::text::jinja
