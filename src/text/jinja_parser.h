// Tokens to a syntax tree: the grammar of Jinja2 3.1 with the extensions that chat templates are rendered with
// (break, continue, generation). What is refused by name: include, import, from, extends, block, autoescape.
#pragma once
#include <span>

#include "text/jinja_ast.h"
#include "text/jinja_lexer.h"

namespace ridge::text::jinja {

// No expression or statement nests deeper (CPython stops at 200 parentheses and 100 indents).
inline constexpr int max_syntax_depth = 200;

// Fails (the user's input, with the line) on what Jinja2 refuses.
Tree parse(std::span<const Token> tokens);

}  // namespace ridge::text::jinja
