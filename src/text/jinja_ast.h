// The syntax tree of a template. Nodes are plain; the parser makes them, the binder (jinja_bind.h) fills in where each
// name lives, the evaluator reads them.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "text/template_value.h"

namespace ridge::text::jinja {

struct Machine;
struct Args;
using FilterFunction = Value (*)(Machine&, const Value&, Args&);
using TestFunction = bool (*)(Machine&, const Value&, Args&);

// Where a variable is: so many function activations outwards, then that slot.
struct Slot {
  int outward = -1;
  int index = -1;
};

enum class ExprKind : std::uint8_t {
  constant,       // value
  name,           // name, slot
  attribute_ref,  // name.text, an assignment target (a namespace's attribute); slot is the namespace's
  tuple,
  list,    // children
  dict,    // children: key, value, key, value ...
  binary,  // children: left, right; op
  negate,
  plus,
  logic_not,
  logic_and,
  logic_or,
  compare,      // children: first, second ...; ops between them
  concat,       // children
  conditional,  // children: test, then, else (null: none)
  getattr,      // children: object; name
  getitem,      // children: object, key
  slice,        // children: start, stop, step, each may be null; only as the key of a getitem
  call,         // children: function, arguments; keywords, spread, spread_map
  filter,       // children: input (null: the block's text), arguments; name; likewise
  test,         // children: input, arguments; name; likewise
};

enum class Op : std::uint8_t { add, sub, mul, div, floordiv, mod, pow, eq, ne, lt, le, gt, ge, in, not_in };

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

struct Expr {
  ExprKind kind = ExprKind::constant;
  Op op = Op::add;
  int line = 0;
  int depth = 1;  // of the tree below, bounded by the parser
  std::string name;
  std::string text;
  Value value;
  Slot slot;
  std::vector<ExprPtr> children;
  std::vector<Op> ops;
  std::vector<std::pair<std::string, ExprPtr>> keywords;
  ExprPtr spread, spread_map;  // f(*spread, **spread_map)
  FilterFunction filter = nullptr;
  TestFunction test = nullptr;
};

// What entering a scope does to one of its variables.
enum class LoadKind : std::uint8_t { resolve, alias, clear };
struct Load {
  LoadKind kind = LoadKind::clear;
  int target = 0;    // slot in the running function
  std::string name;  // resolve: looked up in the template's context and globals
  Slot source;       // alias: copied from here
};

// Functions have their own variables: the template itself, macros, call blocks, recursive loops, loop filters.
struct FunctionScope {
  int slot_count = 0;
  bool keeps_variables = false;  // something inside can use the variables after the function has returned
};

struct Stmt;
using StmtPtr = std::unique_ptr<Stmt>;
using Body = std::vector<StmtPtr>;

struct Branch {
  ExprPtr test;
  Body body;
};

// The parts of a macro or call block.
struct MacroParts {
  std::string name;  // empty for a call block
  std::vector<std::string> params;
  std::vector<ExprPtr> defaults;  // of the last parameters
  std::vector<int> param_slots;
  int caller_slot = -1, kwargs_slot = -1, varargs_slot = -1;  // -1: the body does not use it
  bool reads_caller = false;
  std::vector<Load> loads;
  FunctionScope scope;
  Body body;
};

enum class StmtKind : std::uint8_t {
  data,          // text
  output,        // exprs
  if_else,       // branches, otherwise
  for_loop,      // target, value, condition, body, otherwise, recursive
  macro,         // macro; name_slot
  call_block,    // macro, value (the call)
  generation,    // macro: a body that runs in its own function
  filter_block,  // value (the filter), body
  set,           // target, value
  set_block,     // target, value (a filter or null), body
  with,          // targets in exprs, values, body
  break_loop,
  continue_loop,
};

struct Stmt {
  StmtKind kind = StmtKind::data;
  int line = 0;
  int depth = 1;
  std::string text;
  std::vector<ExprPtr> exprs, values;
  std::vector<Branch> branches;
  ExprPtr target, value, condition;
  Body body, otherwise;
  std::vector<Load> loads;  // on entering the body's scope
  Slot name_slot;
  std::unique_ptr<MacroParts> macro;
  // Loops.
  bool recursive = false;
  bool uses_loop = false;
  int loop_slot = -1;
  ExprPtr test_target;  // the target again, as the filter's own variables
  std::vector<Load> test_loads, otherwise_loads;
  FunctionScope test_scope, recursive_scope;
};

struct Tree {
  Body body;
  std::vector<Load> loads;
  FunctionScope scope;
};

}  // namespace ridge::text::jinja
