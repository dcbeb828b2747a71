#include "text/jinja_parse_expression.h"

#include <algorithm>

#include "text/jinja_parser.h"

namespace ridge::text::jinja {

struct ExpressionParser::Nested {
  explicit Nested(ExpressionParser& parser) : parser_(parser) {
    if (++parser_.nesting_ > max_syntax_depth)
      parser_.stream_.fail("expressions nested deeper than {} are not accepted", max_syntax_depth);
  }
  ~Nested() { --parser_.nesting_; }
  ExpressionParser& parser_;
};

ExprPtr ExpressionParser::make(ExprKind kind, int line) const {
  auto node = std::make_unique<Expr>();
  node->kind = kind;
  node->line = line;
  return node;
}

ExprPtr ExpressionParser::done(ExprPtr node) const {
  int inner = 0;
  auto look = [&](const ExprPtr& child) {
    if (child) inner = std::max(inner, child->depth);
  };
  for (const ExprPtr& child : node->children) look(child);
  for (const auto& keyword : node->keywords) look(keyword.second);
  look(node->spread);
  look(node->spread_map);
  node->depth = inner + 1;
  if (node->depth > max_syntax_depth)
    stream_.fail_at(node->line, "expressions nested deeper than {} are not accepted", max_syntax_depth);
  return node;
}

ExprPtr ExpressionParser::binary(Op op, ExprPtr left, ExprPtr right, int line) const {
  ExprPtr node = make(ExprKind::binary, line);
  node->op = op;
  node->children.push_back(std::move(left));
  node->children.push_back(std::move(right));
  return done(std::move(node));
}

ExprPtr ExpressionParser::expression(Conditional allowed) {
  Nested nested(*this);
  return allowed == Conditional::allowed ? conditional() : logic_or();
}

ExprPtr ExpressionParser::conditional() {
  Nested nested(*this);
  int line = stream_.current().line;
  ExprPtr node = logic_or();
  while (stream_.skip_name("if")) {
    ExprPtr choice = make(ExprKind::conditional, line);
    choice->children.push_back(logic_or());
    choice->children.push_back(std::move(node));
    choice->children.push_back(stream_.skip_name("else") ? conditional() : nullptr);
    node = done(std::move(choice));
    line = stream_.current().line;
  }
  return node;
}

ExprPtr ExpressionParser::logic_or() {
  int line = stream_.current().line;
  ExprPtr left = logic_and();
  while (stream_.skip_name("or")) {
    ExprPtr node = make(ExprKind::logic_or, line);
    node->children.push_back(std::move(left));
    node->children.push_back(logic_and());
    left = done(std::move(node));
  }
  return left;
}

ExprPtr ExpressionParser::logic_and() {
  int line = stream_.current().line;
  ExprPtr left = logic_not();
  while (stream_.skip_name("and")) {
    ExprPtr node = make(ExprKind::logic_and, line);
    node->children.push_back(std::move(left));
    node->children.push_back(logic_not());
    left = done(std::move(node));
  }
  return left;
}

ExprPtr ExpressionParser::logic_not() {
  if (!stream_.is_name("not")) return compare();
  Nested nested(*this);
  ExprPtr node = make(ExprKind::logic_not, stream_.next().line);
  node->children.push_back(logic_not());
  return done(std::move(node));
}

ExprPtr ExpressionParser::compare() {
  static constexpr std::pair<std::string_view, Op> symbols[] = {{"==", Op::eq}, {"!=", Op::ne}, {"<", Op::lt},
                                                                {"<=", Op::le}, {">", Op::gt},  {">=", Op::ge}};
  int line = stream_.current().line;
  ExprPtr first = sum();
  ExprPtr node;
  for (;;) {
    Op op = Op::add;
    for (auto [text, meaning] : symbols)
      if (stream_.is_symbol(text)) op = meaning;
    if (op != Op::add) stream_.next();
    else if (stream_.skip_name("in")) op = Op::in;
    else if (stream_.is_name("not") && stream_.look().kind == TokenKind::name && stream_.look().text == "in") {
      stream_.next();
      stream_.next();
      op = Op::not_in;
    } else break;
    if (!node) {
      node = make(ExprKind::compare, line);
      node->children.push_back(std::move(first));
    }
    node->ops.push_back(op);
    node->children.push_back(sum());
  }
  return node ? done(std::move(node)) : std::move(first);
}

ExprPtr ExpressionParser::sum() {
  int line = stream_.current().line;
  ExprPtr left = concat();
  while (stream_.is_symbol("+") || stream_.is_symbol("-")) {
    Op op = stream_.next().text == "+" ? Op::add : Op::sub;
    ExprPtr right = concat();
    left = binary(op, std::move(left), std::move(right), line);
  }
  return left;
}

ExprPtr ExpressionParser::concat() {
  int line = stream_.current().line;
  ExprPtr first = product();
  if (!stream_.is_symbol("~")) return first;
  ExprPtr node = make(ExprKind::concat, line);
  node->children.push_back(std::move(first));
  while (stream_.skip_symbol("~")) node->children.push_back(product());
  return done(std::move(node));
}

ExprPtr ExpressionParser::product() {
  static constexpr std::pair<std::string_view, Op> symbols[] = {
      {"*", Op::mul}, {"/", Op::div}, {"//", Op::floordiv}, {"%", Op::mod}};
  int line = stream_.current().line;
  ExprPtr left = power();
  for (;;) {
    Op op = Op::add;
    for (auto [text, meaning] : symbols)
      if (stream_.is_symbol(text)) op = meaning;
    if (op == Op::add) return left;
    stream_.next();
    ExprPtr right = power();
    left = binary(op, std::move(left), std::move(right), line);
  }
}

ExprPtr ExpressionParser::power() {
  int line = stream_.current().line;
  ExprPtr left = unary(true);
  std::vector<ExprPtr> operands;
  operands.push_back(std::move(left));
  while (stream_.skip_symbol("**")) operands.push_back(unary(true));
  // The tree is left-heavy, but it becomes Python text in parentheses, so it also computes from the left.
  left = std::move(operands[0]);
  for (std::size_t i = 1; i < operands.size(); ++i)
    left = binary(Op::pow, std::move(left), std::move(operands[i]), line);
  return left;
}

ExprPtr ExpressionParser::unary(bool with_filter) {
  Nested nested(*this);
  ExprPtr node;
  if (stream_.is_symbol("-") || stream_.is_symbol("+")) {
    const Token& sign = stream_.next();
    node = make(sign.text == "-" ? ExprKind::negate : ExprKind::plus, sign.line);
    node->children.push_back(unary(false));
    node = done(std::move(node));
  } else {
    node = primary();
  }
  node = postfix(std::move(node));
  return with_filter ? filters_and_tests(std::move(node)) : std::move(node);
}

ExprPtr ExpressionParser::primary(Attributes attributes) {
  const Token& token = stream_.current();
  ExprPtr node = make(ExprKind::constant, token.line);
  switch (token.kind) {
    case TokenKind::name:
      stream_.next();
      if (token.text == "true" || token.text == "True") node->value = Value::boolean(true);
      else if (token.text == "false" || token.text == "False") node->value = Value::boolean(false);
      else if (token.text == "none" || token.text == "None") node->value = Value::none();
      else if (attributes == Attributes::allowed && stream_.skip_symbol(".")) {
        node->kind = ExprKind::attribute_ref;
        node->name = token.text;
        node->text = stream_.expect_name();
      } else {
        node->kind = ExprKind::name;
        node->name = token.text;
      }
      return node;
    case TokenKind::string: {
      std::string text;
      while (stream_.is(TokenKind::string)) text += stream_.next().text;
      node->value = Value::string(std::move(text));
      return node;
    }
    case TokenKind::integer: node->value = Value::integer(stream_.next().integer); return node;
    case TokenKind::real: node->value = Value::real(stream_.next().real); return node;
    case TokenKind::symbol:
      if (stream_.skip_symbol("(")) {
        node = tuple_of([&] { return expression(); }, {}, true);
        stream_.expect_symbol(")");
        return node;
      }
      if (token.text == "[") return list();
      if (token.text == "{") return dict();
      break;
    default: break;
  }
  stream_.fail("unexpected {}", TokenStream::describe(token));
}

template <class One> ExprPtr ExpressionParser::tuple_of(One one, std::string_view end_name, bool parentheses) {
  ExprPtr node = make(ExprKind::tuple, stream_.current().line);
  bool is_tuple = false;
  for (;;) {
    if (!node->children.empty()) stream_.expect_symbol(",");
    if (stream_.is(TokenKind::variable_end) || stream_.is(TokenKind::block_end) || stream_.is_symbol(")")) break;
    if (!end_name.empty() && stream_.is_name(end_name)) break;
    node->children.push_back(one());
    if (!stream_.is_symbol(",")) break;
    is_tuple = true;
  }
  if (!is_tuple) {
    if (!node->children.empty()) return std::move(node->children[0]);
    if (!parentheses) stream_.fail("expected an expression, got {}", TokenStream::describe(stream_.current()));
  }
  return done(std::move(node));
}

ExprPtr ExpressionParser::tuple(Conditional conditional, std::string_view end_name) {
  return tuple_of([&] { return expression(conditional); }, end_name, false);
}

namespace {

void check_target(const Expr& node, const TokenStream& stream) {
  switch (node.kind) {
    case ExprKind::name:
    case ExprKind::attribute_ref: return;
    case ExprKind::tuple:
      for (const ExprPtr& child : node.children) check_target(*child, stream);
      return;
    default: stream.fail_at(node.line, "cannot assign to this expression; names and tuples of names are accepted");
  }
}

}  // namespace

ExprPtr ExpressionParser::target(Attributes attributes, std::string_view end_name) {
  Nested nested(*this);
  ExprPtr node = tuple_of([&] { return primary(attributes); }, end_name, false);
  check_target(*node, stream_);
  return node;
}

std::string ExpressionParser::target_name() {
  std::string name = stream_.expect_name();
  for (std::string_view word : {"true", "false", "none", "True", "False", "None"})
    if (name == word) stream_.fail("cannot assign to '{}'", name);
  return name;
}

ExprPtr ExpressionParser::list() {
  ExprPtr node = make(ExprKind::list, stream_.next().line);
  while (!stream_.is_symbol("]")) {
    if (!node->children.empty()) stream_.expect_symbol(",");
    if (stream_.is_symbol("]")) break;
    node->children.push_back(expression());
  }
  stream_.expect_symbol("]");
  return done(std::move(node));
}

ExprPtr ExpressionParser::dict() {
  ExprPtr node = make(ExprKind::dict, stream_.next().line);
  while (!stream_.is_symbol("}")) {
    if (!node->children.empty()) stream_.expect_symbol(",");
    if (stream_.is_symbol("}")) break;
    node->children.push_back(expression());
    stream_.expect_symbol(":");
    node->children.push_back(expression());
  }
  stream_.expect_symbol("}");
  return done(std::move(node));
}

ExprPtr ExpressionParser::postfix(ExprPtr node) {
  for (;;) {
    if (stream_.is_symbol(".") || stream_.is_symbol("[")) node = subscript(std::move(node));
    else if (stream_.is_symbol("(")) node = call(std::move(node));
    else return node;
  }
}

ExprPtr ExpressionParser::filters_and_tests(ExprPtr node) {
  for (;;) {
    if (stream_.is_symbol("|")) node = filter_chain(std::move(node), false);
    else if (stream_.is_name("is")) node = test(std::move(node));
    else if (stream_.is_symbol("(")) node = call(std::move(node));
    else return node;
  }
}

ExprPtr ExpressionParser::subscript(ExprPtr object) {
  const Token& token = stream_.next();
  ExprPtr node = make(ExprKind::getitem, token.line);
  node->children.push_back(std::move(object));
  if (token.text == ".") {
    const Token& attribute = stream_.next();
    if (attribute.kind == TokenKind::name) {
      node->kind = ExprKind::getattr;
      node->name = attribute.text;
      return done(std::move(node));
    }
    if (attribute.kind != TokenKind::integer) stream_.fail_at(attribute.line, "expected a name or a number behind '.'");
    node->children.push_back(make(ExprKind::constant, attribute.line));
    node->children.back()->value = Value::integer(attribute.integer);
    return done(std::move(node));
  }
  std::vector<ExprPtr> keys;
  while (!stream_.is_symbol("]")) {
    if (!keys.empty()) stream_.expect_symbol(",");
    keys.push_back(subscript_key());
  }
  stream_.expect_symbol("]");
  if (keys.size() == 1) {
    node->children.push_back(std::move(keys[0]));
    return done(std::move(node));
  }
  for (const ExprPtr& key : keys)
    if (key->kind == ExprKind::slice) stream_.fail_at(token.line, "a slice among several subscripts is not supported");
  ExprPtr key = make(ExprKind::tuple, token.line);
  key->children = std::move(keys);
  node->children.push_back(done(std::move(key)));
  return done(std::move(node));
}

ExprPtr ExpressionParser::subscript_key() {
  auto at_end = [&] { return stream_.is_symbol("]") || stream_.is_symbol(","); };
  ExprPtr node = make(ExprKind::slice, stream_.current().line);
  ExprPtr start;
  if (!stream_.is_symbol(":")) {
    start = expression();
    if (!stream_.is_symbol(":")) return start;
  }
  stream_.expect_symbol(":");
  node->children.push_back(std::move(start));
  node->children.push_back(stream_.is_symbol(":") || at_end() ? nullptr : expression());
  ExprPtr step;
  if (stream_.skip_symbol(":") && !at_end()) step = expression();
  node->children.push_back(std::move(step));
  return done(std::move(node));
}

void ExpressionParser::arguments(Expr& into) {
  int line = stream_.current().line;
  auto ensure = [&](bool fine) {
    if (!fine) stream_.fail_at(line, "arguments of a call must come in the order: positional, named, *list, **dict");
  };
  stream_.expect_symbol("(");
  bool first = true;
  while (!stream_.is_symbol(")")) {
    if (!first) {
      stream_.expect_symbol(",");
      if (stream_.is_symbol(")")) break;
    }
    first = false;
    if (stream_.is_symbol("*")) {
      ensure(!into.spread && !into.spread_map);
      stream_.next();
      into.spread = expression();
    } else if (stream_.is_symbol("**")) {
      ensure(!into.spread_map);
      stream_.next();
      into.spread_map = expression();
    } else if (stream_.is(TokenKind::name) && stream_.look().kind == TokenKind::symbol && stream_.look().text == "=") {
      ensure(!into.spread_map);
      std::string name = stream_.next().text;
      stream_.next();
      for (const auto& keyword : into.keywords)
        if (keyword.first == name) stream_.fail_at(line, "the argument '{}' is given twice", name);
      into.keywords.emplace_back(std::move(name), expression());
    } else {
      ensure(!into.spread && !into.spread_map && into.keywords.empty());
      into.children.push_back(expression());
    }
  }
  stream_.expect_symbol(")");
}

ExprPtr ExpressionParser::call(ExprPtr function) {
  ExprPtr node = make(ExprKind::call, stream_.current().line);
  node->children.push_back(std::move(function));
  arguments(*node);
  return done(std::move(node));
}

std::string ExpressionParser::dotted_name() {
  std::string name = stream_.expect_name();
  while (stream_.skip_symbol(".")) name += "." + stream_.expect_name();
  return name;
}

ExprPtr ExpressionParser::filter_chain(ExprPtr input, bool name_comes_first) {
  while (name_comes_first || stream_.is_symbol("|")) {
    if (!name_comes_first) stream_.next();
    name_comes_first = false;
    ExprPtr node = make(ExprKind::filter, stream_.current().line);
    node->name = dotted_name();
    node->children.push_back(std::move(input));
    if (stream_.is_symbol("(")) arguments(*node);
    input = done(std::move(node));
  }
  return input;
}

ExprPtr ExpressionParser::test(ExprPtr input) {
  ExprPtr node = make(ExprKind::test, stream_.next().line);
  bool negated = stream_.skip_name("not");
  node->name = dotted_name();
  node->children.push_back(std::move(input));
  if (stream_.is_symbol("(")) {
    arguments(*node);
  } else if (stream_.is(TokenKind::string) || stream_.is(TokenKind::integer) || stream_.is(TokenKind::real) ||
             stream_.is_symbol("[") || stream_.is_symbol("{") ||
             (stream_.is(TokenKind::name) && !stream_.is_name("else") && !stream_.is_name("or") &&
              !stream_.is_name("and"))) {
    if (stream_.is_name("is")) stream_.fail("tests cannot be chained with 'is'");
    node->children.push_back(postfix(primary()));
  }
  node = done(std::move(node));
  if (!negated) return node;
  ExprPtr no = make(ExprKind::logic_not, node->line);
  no->children.push_back(std::move(node));
  return done(std::move(no));
}

}  // namespace ridge::text::jinja
