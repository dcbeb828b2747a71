// The variable `loop`, the filter of a loop, and macros: objects that call back into the evaluator.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "text/jinja_evaluate.h"

namespace ridge::text::jinja {

// Goes through items as jinja2.runtime.LoopContext does: one item ahead only when asked.
struct LoopObject : Object {
  LoopObject(Machine& machine, Value items, std::shared_ptr<Iterator> source);
  bool advance(Machine& machine, Value& out);

  std::string_view type_name() const override { return "LoopContext"; }
  std::int64_t length(Machine& machine) override;
  std::shared_ptr<Iterator> iterate(Machine& machine) override;
  bool attribute(Machine& machine, const std::string& name, Value& out) override;
  bool is_callable() override { return true; }
  Value call(Machine& machine, Args& args) override;
  std::string represent(Machine& machine, int level) override;

  bool peek(Machine& machine);
  bool changed(Machine& machine, std::vector<Value> values);

  Value items;
  std::shared_ptr<Iterator> iterator;
  std::int64_t index0 = -1;
  std::optional<std::int64_t> known_length;
  bool has_next = false;
  Value next, current, before;
  std::optional<std::vector<Value>> last_changed;
  int depth0 = 0;
  // Of a recursive loop.
  Evaluator* evaluator = nullptr;
  const Stmt* body = nullptr;
  Activation* definer = nullptr;
  std::weak_ptr<LoopObject> self;
};

// The items of a loop that pass its condition.
class ConditionIterator : public Iterator {
 public:
  ConditionIterator(Evaluator& evaluator, const Stmt& loop, Activation& definer, std::shared_ptr<Iterator> source);
  bool next(Machine& machine, Value& out) override;

 private:
  Evaluator& evaluator_;
  const Stmt& loop_;
  Activation variables_;
  std::shared_ptr<Iterator> source_;
  bool entered_ = false;
};

struct MacroObject : Object {
  MacroObject(Evaluator& runs_in, const MacroParts& macro, Activation& variables)
      : evaluator(runs_in), parts(macro), closure(variables) {}
  Evaluator& evaluator;
  const MacroParts& parts;
  Activation& closure;  // kept alive by the evaluator

  std::string_view type_name() const override { return "Macro"; }
  bool attribute(Machine& machine, const std::string& name, Value& out) override;
  bool is_callable() override { return true; }
  Value call(Machine& machine, Args& args) override;
  std::string represent(Machine& machine, int level) override;
};

}  // namespace ridge::text::jinja
