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

// Runs one program on one device. `program` and `target` must outlive it; Target::most bounds every run.
//
// A step: bind() its sizes, write its inputs where input() says, run(), read what output() gives. A run may still be
// going on when run() returns; output() waits for it, and so does the next input(), where need be.
class Executor {
 public:
  virtual ~Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // The sizes that a step of these is best run with: at least these. Whoever binds larger ones fills them up with rows
  // that belong to nobody (engine/step_inputs.h).
  virtual Sizes rounded(const Sizes& sizes) const { return sizes; }
  // Binds the symbols for the runs that follow; refuses sizes above Target::most. Inputs are written after this.
  void bind(const Sizes& sizes);
  virtual View input(ir::Value v) = 0;   // host memory, to be written before the next run
  virtual View output(ir::Value v) = 0;  // any value that the last run made, in host memory, until the next run
  virtual void run(Observer* observer = nullptr) = 0;
  virtual void wait() {}  // until the last run has ended

  const ir::Program& program() const { return program_; }
  const ir::Target& target() const { return target_; }
  const MemoryPlan& plan() const { return plan_; }
  const ir::KernelChoice& choice(std::size_t call_index) const { return steps_[call_index].choice; }

 protected:
  using Choose = ir::KernelChoice (*)(const ir::Program&, const ir::Call&, const ir::Target&);
  // `weights` by value id; a weight's view must stay valid as long as the executor.
  Executor(const ir::Program& program, const ir::Target& target, std::vector<View> weights, Reuse reuse, Choose choose);

  struct Regions {
    std::byte *inputs, *states, *arena;
  };
  void place(const Regions& regions);  // gives every value its address, and binds the largest step
  View view(ir::Value v) const { return views_[std::size_t(v.id)]; }  // where its bytes are on the device, as bound now

  struct Prepared {  // one call: its kernel and its views, in order
    ir::KernelChoice choice;
    std::vector<View> in, out;
    bool idle = false;  // as bound, its outputs have no elements (a step that wants no logits): there is nothing to do
  };
  const ir::Program& program_;
  ir::Target target_;
  MemoryPlan plan_;
  std::vector<View> views_;  // by value id
  std::vector<Prepared> steps_;
  Sizes bound_;
};

// Runs on the host, on the calling thread and `pool`, which must outlive it: the CPU's kernels, or the reference's.
class HostExecutor final : public Executor {
 public:
  HostExecutor(const ir::Program& program, const ir::Target& target, ThreadPool& pool, std::vector<View> weights,
               Reuse reuse = Reuse::in_place);
  View input(ir::Value v) override { return view(v); }
  View output(ir::Value v) override { return view(v); }
  void run(Observer* observer = nullptr) override;

 private:
  ThreadPool& pool_;
  Arena arena_, inputs_, states_, scratch_;
};

}  // namespace ridge::program
