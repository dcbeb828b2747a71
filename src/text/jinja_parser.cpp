#include "text/jinja_parser.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "text/jinja_parse_expression.h"
#include "text/jinja_token_stream.h"

namespace ridge::text::jinja {
namespace {

using Attributes = ExpressionParser::Attributes;

class Parser {
 public:
  explicit Parser(std::span<const Token> tokens) : stream_(tokens), expressions_(stream_) {}

  Body run() { return body_until({}); }

 private:
  using Names = std::initializer_list<std::string_view>;

  StmtPtr make(StmtKind kind, int line) const {
    auto node = std::make_unique<Stmt>();
    node->kind = kind;
    node->line = line;
    return node;
  }

  bool at_name(Names names) const {
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return stream_.is_name(name); });
  }

  // Statements up to a tag of one of these names, which is left current (its "{%" is consumed).
  Body body_until(Names ends) {
    if (++nesting_ > max_nesting) stream_.fail("blocks nested deeper than {} are not accepted", max_nesting);
    Body body;
    for (;;) {
      const Token& token = stream_.current();
      if (token.kind == TokenKind::end) {
        if (ends.size() > 0) stream_.fail("the template ends, but '{}' is missing", *(ends.end() - 1));
        break;
      }
      if (token.kind == TokenKind::data) {
        body.push_back(make(StmtKind::data, token.line));
        body.back()->text = stream_.next().text;
      } else if (token.kind == TokenKind::variable_begin) {
        stream_.next();
        body.push_back(make(StmtKind::output, token.line));
        body.back()->exprs.push_back(expressions_.tuple());
        stream_.expect(TokenKind::variable_end, "'}}'");
      } else {
        stream_.expect(TokenKind::block_begin, "'{%'");
        if (at_name(ends)) break;
        body.push_back(statement());
        stream_.expect(TokenKind::block_end, "'%}'");
      }
    }
    --nesting_;
    return body;
  }

  // The body of a block whose opening tag is parsed up to its "%}".
  Body block_body(Names ends) {
    stream_.skip_symbol(":");
    stream_.expect(TokenKind::block_end, "'%}'");
    return body_until(ends);
  }
  Body block_to_end(std::string_view end) {
    Body body = block_body({end});
    stream_.next();
    return body;
  }

  StmtPtr statement() {
    if (!stream_.is(TokenKind::name))
      stream_.fail("expected the name of a tag, got {}", TokenStream::describe(stream_.current()));
    const Token& tag = stream_.next();
    if (tag.text == "for") return for_loop(tag.line);
    if (tag.text == "if") return if_else(tag.line);
    if (tag.text == "set") return set(tag.line);
    if (tag.text == "macro") return macro(tag.line);
    if (tag.text == "call") return call_block(tag.line);
    if (tag.text == "filter") return filter_block(tag.line);
    if (tag.text == "with") return with(tag.line);
    if (tag.text == "print") return print(tag.line);
    if (tag.text == "generation") return generation(tag.line);
    if (tag.text == "break") return make(StmtKind::break_loop, tag.line);
    if (tag.text == "continue") return make(StmtKind::continue_loop, tag.line);
    for (std::string_view word : {"include", "import", "from", "extends", "block", "autoescape"})
      if (tag.text == word) stream_.fail_at(tag.line, "the tag '{}' is not supported", word);
    stream_.fail_at(tag.line, "unknown tag '{}'", tag.text);
  }

  StmtPtr for_loop(int line) {
    StmtPtr node = make(StmtKind::for_loop, line);
    node->target = expressions_.target(Attributes::refused, "in");
    if (!stream_.skip_name("in")) stream_.fail("expected 'in', got {}", TokenStream::describe(stream_.current()));
    node->value = expressions_.tuple(Conditional::refused, "recursive");
    if (stream_.skip_name("if")) node->condition = expressions_.expression();
    node->recursive = stream_.skip_name("recursive");
    node->body = block_body({"else", "endfor"});
    if (stream_.next().text == "else") node->otherwise = block_to_end("endfor");
    return node;
  }

  StmtPtr if_else(int line) {
    StmtPtr node = make(StmtKind::if_else, line);
    for (;;) {
      Branch branch;
      branch.test = expressions_.tuple(Conditional::refused);
      branch.body = block_body({"elif", "else", "endif"});
      node->branches.push_back(std::move(branch));
      const Token& tag = stream_.next();
      if (tag.text == "elif") continue;
      if (tag.text == "else") node->otherwise = block_to_end("endif");
      return node;
    }
  }

  StmtPtr set(int line) {
    StmtPtr node = make(StmtKind::set, line);
    node->target = expressions_.target(Attributes::allowed);
    if (stream_.skip_symbol("=")) {
      node->value = expressions_.tuple();
      return node;
    }
    node->kind = StmtKind::set_block;
    node->value = expressions_.filter_chain(nullptr, false);
    node->body = block_to_end("endset");
    return node;
  }

  void signature(MacroParts& macro) {
    stream_.expect_symbol("(");
    while (!stream_.is_symbol(")")) {
      if (!macro.params.empty()) stream_.expect_symbol(",");
      macro.params.push_back(expressions_.target_name());
      for (std::size_t i = 0; i + 1 < macro.params.size(); ++i)
        if (macro.params[i] == macro.params.back())
          stream_.fail("the parameter '{}' is named twice", macro.params.back());
      if (stream_.skip_symbol("=")) macro.defaults.push_back(expressions_.expression());
      else if (!macro.defaults.empty()) stream_.fail("a parameter without a default follows one that has a default");
    }
    stream_.expect_symbol(")");
  }

  StmtPtr macro(int line) {
    StmtPtr node = make(StmtKind::macro, line);
    node->macro = std::make_unique<MacroParts>();
    node->macro->name = expressions_.target_name();
    signature(*node->macro);
    node->macro->body = block_to_end("endmacro");
    return node;
  }

  StmtPtr call_block(int line) {
    StmtPtr node = make(StmtKind::call_block, line);
    node->macro = std::make_unique<MacroParts>();
    if (stream_.is_symbol("(")) signature(*node->macro);
    node->value = expressions_.expression();
    if (node->value->kind != ExprKind::call) stream_.fail_at(line, "a 'call' block needs a call");
    for (const auto& keyword : node->value->keywords)
      if (keyword.first == "caller") stream_.fail_at(line, "the argument 'caller' of a 'call' block is given twice");
    node->macro->body = block_to_end("endcall");
    return node;
  }

  StmtPtr generation(int line) {
    StmtPtr node = make(StmtKind::generation, line);
    node->macro = std::make_unique<MacroParts>();
    node->macro->body = block_to_end("endgeneration");
    return node;
  }

  StmtPtr filter_block(int line) {
    StmtPtr node = make(StmtKind::filter_block, line);
    node->value = expressions_.filter_chain(nullptr, true);
    node->body = block_to_end("endfilter");
    return node;
  }

  StmtPtr with(int line) {
    StmtPtr node = make(StmtKind::with, line);
    while (!stream_.is(TokenKind::block_end)) {
      if (!node->exprs.empty()) stream_.expect_symbol(",");
      node->exprs.push_back(expressions_.target(Attributes::refused));
      stream_.expect_symbol("=");
      node->values.push_back(expressions_.expression());
    }
    node->body = block_to_end("endwith");
    return node;
  }

  StmtPtr print(int line) {
    StmtPtr node = make(StmtKind::output, line);
    while (!stream_.is(TokenKind::block_end)) {
      if (!node->exprs.empty()) stream_.expect_symbol(",");
      node->exprs.push_back(expressions_.expression());
    }
    return node;
  }

  static constexpr int max_nesting = 100;
  TokenStream stream_;
  ExpressionParser expressions_;
  int nesting_ = 0;
};

}  // namespace

Tree parse(std::span<const Token> tokens) {
  Tree tree;
  tree.body = Parser(tokens).run();
  return tree;
}

}  // namespace ridge::text::jinja
