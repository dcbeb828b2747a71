// Expressions of the template language.
#pragma once
#include <string>
#include <vector>

#include "text/jinja_ast.h"
#include "text/jinja_token_stream.h"

namespace ridge::text::jinja {

enum class Conditional : bool { refused, allowed };

class ExpressionParser {
 public:
  explicit ExpressionParser(TokenStream& stream) : stream_(stream) {}

  ExprPtr expression(Conditional conditional = Conditional::allowed);
  // One expression, or several with commas as a tuple. `end_name` is a name that ends the tuple ("in", "recursive").
  ExprPtr tuple(Conditional conditional = Conditional::allowed, std::string_view end_name = {});
  // What can stand left of `=` or of `in`. Attributes of namespaces only where asked for.
  enum class Attributes : bool { refused, allowed };
  ExprPtr target(Attributes attributes, std::string_view end_name = {});
  std::string target_name();
  ExprPtr filter_chain(ExprPtr input, bool name_comes_first);

 private:
  struct Nested;  // counts how deep the parser is in itself

  ExprPtr conditional();
  ExprPtr logic_or();
  ExprPtr logic_and();
  ExprPtr logic_not();
  ExprPtr compare();
  ExprPtr sum();
  ExprPtr concat();
  ExprPtr product();
  ExprPtr power();
  ExprPtr unary(bool with_filter);
  ExprPtr primary(Attributes attributes = Attributes::refused);
  ExprPtr postfix(ExprPtr node);
  ExprPtr filters_and_tests(ExprPtr node);
  ExprPtr subscript(ExprPtr object);
  ExprPtr subscript_key();
  ExprPtr call(ExprPtr function);
  ExprPtr test(ExprPtr input);
  ExprPtr list();
  ExprPtr dict();
  template <class One> ExprPtr tuple_of(One one, std::string_view end_name, bool parentheses);
  void arguments(Expr& into);
  std::string dotted_name();
  ExprPtr make(ExprKind kind, int line) const;
  ExprPtr done(ExprPtr node) const;  // computes and checks the depth
  ExprPtr binary(Op op, ExprPtr left, ExprPtr right, int line) const;

  TokenStream& stream_;
  int nesting_ = 0;
};

}  // namespace ridge::text::jinja
