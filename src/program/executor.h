// Runs a program: kernels chosen once, every value at a fixed address, nothing allocated per run.
#pragma once
#include <span>
#include <vector>

#include "ir/op_info.h"
#include "program/memory_plan.h"
#include "tensor/arena.h"

namespace ridge::program {

// Told about every call of a run, on the thread that runs it. `profile` stamps; others may watch values.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void before(std::size_t call_index) = 0;
  virtual void after(std::size_t call_index) = 0;
};

class Executor {
 public:
  // `weights` by value id; a weight's view must stay valid as long as the executor. `program` and `pool` too.
  // Target::most bounds every later run.
  Executor(const ir::Program& program, const ir::Target& target, ThreadPool& pool, std::vector<View> weights,
           Reuse reuse = Reuse::in_place);
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // Binds the symbols for the runs that follow; refuses sizes above Target::most. Inputs are written after this.
  void bind(const Sizes& sizes);
  View view(ir::Value v) const { return views_[std::size_t(v.id)]; }  // as bound now; outputs valid until the next run
  void run(Observer* observer = nullptr);

  const ir::Program& program() const { return program_; }
  const ir::Target& target() const { return target_; }
  const MemoryPlan& plan() const { return plan_; }
  const ir::KernelChoice& choice(std::size_t call_index) const { return steps_[call_index].choice; }

 private:
  struct Prepared {  // one call: its kernel and its views, in order
    ir::KernelChoice choice;
    std::vector<View> in, out;
    bool idle = false;  // as bound, its outputs have no elements (a step that wants no logits): there is nothing to do
  };
  const ir::Program& program_;
  ir::Target target_;
  ThreadPool& pool_;
  MemoryPlan plan_;
  Arena arena_, inputs_, states_, scratch_;
  std::vector<View> views_;  // by value id
  std::vector<Prepared> steps_;
  Sizes bound_;
};

}  // namespace ridge::program
