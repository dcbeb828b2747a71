// Decides where every variable of a template lives, as Jinja2's compiler does (jinja2/idtracking.py): a name belongs to
// the scope that assigns it, `if` makes no scope, loops, macros and blocks do, and an inner scope that assigns an outer
// name starts from a copy of it. Also resolves filters and tests, and refuses what Jinja2's compiler refuses.
#pragma once
#include "text/jinja_ast.h"

namespace ridge::text::jinja {

// Fills in slots, loads, filters and tests. Fails (the user's input, with the line).
void bind(Tree& tree);

}  // namespace ridge::text::jinja
