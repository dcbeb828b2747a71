// Runs a bound tree. One Evaluator renders once.
#pragma once
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "text/jinja_ast.h"
#include "text/jinja_machine.h"

namespace ridge::text::jinja {

// The variables of a running function.
struct Activation {
  std::vector<Value> slots;
  Activation* parent = nullptr;
};

enum class Flow : std::uint8_t { normal, break_loop, continue_loop };

class Evaluator {
 public:
  Evaluator(Machine& machine, const Value& context) : machine_(machine), context_(context) {}
  ~Evaluator();  // breaks the cycles that namespaces can make
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  std::string run(const Tree& tree);

  // For the objects that call back: macros, recursive loops, loop filters.
  Value evaluate(const Expr& node, Activation& variables);
  std::string run_macro(const MacroParts& macro, Activation& closure, Args& args);
  std::string run_recursive(const Stmt& loop, Activation& definer, const Value& items, int depth);
  void enter(const std::vector<Load>& loads, Activation& variables);
  void assign(const Expr& target, Activation& variables, const Value& value);
  Machine& machine() { return machine_; }

 private:
  friend class Scope;
  Value& variable(const Slot& slot, Activation& variables);
  void leave(const std::vector<Load>& loads, Activation& variables);

  Flow execute(const Body& body, Activation& variables, std::string& out);
  Flow execute(const Stmt& node, Activation& variables, std::string& out);
  Flow execute_if(const Stmt& node, Activation& variables, std::string& out);
  Flow execute_block(const Stmt& node, Activation& variables, std::string& out);
  Flow execute_loop(const Stmt& node, Activation& variables, Activation& definer, const Value& items, int depth,
                    std::string& out);
  void execute_call_block(const Stmt& node, Activation& variables, std::string& out);
  Value make_macro(const MacroParts& macro, Activation& closure);
  void write(std::string_view text, std::string& out);
  void write_text(const Value& value, std::string& out);  // must be a string
  void assign_attribute(const Expr& target, Activation& variables, const Value& value);
  void check_namespaces(const Expr& target, Activation& variables);

  Value evaluate_binary(const Expr& node, Activation& variables);
  Value evaluate_compare(const Expr& node, Activation& variables);
  Value evaluate_items(const Expr& node, Activation& variables);
  Value evaluate_getitem(const Expr& node, Activation& variables);
  Value evaluate_call(const Expr& node, Activation& variables, const Value* caller);
  Value evaluate_filter(const Expr& node, Activation& variables, const Value* block_text);
  Value evaluate_test(const Expr& node, Activation& variables);
  Args arguments(const Expr& node, Activation& variables);

  Machine& machine_;
  const Value& context_;
  std::deque<Activation> kept_;  // variables of functions that something may still use
};

// The variables of one call of a function; kept until the rendering ends if something may refer to them.
class Scope {
 public:
  Scope(Evaluator& evaluator, const FunctionScope& function, Activation* parent);
  Activation& variables() { return *variables_; }

 private:
  Activation own_;
  Activation* variables_;
};

}  // namespace ridge::text::jinja
