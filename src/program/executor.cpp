#include "program/executor.h"

#include <algorithm>

#include "base/error.h"
#include "base/thread_pool.h"

namespace ridge::program {

Executor::Executor(const ir::Program& program, const ir::Target& target, std::vector<View> weights, Reuse reuse,
                   Choose choose)
    : program_(program), target_(target), views_(std::move(weights)) {
  std::int64_t scratch = 0;
  for (const ir::Call& c : program.calls()) {
    steps_.push_back({choose(program, c, target_), std::vector<View>(c.in.size()), std::vector<View>(c.out.size())});
    scratch = std::max(scratch, steps_.back().choice.scratch_bytes);
  }
  plan_ = plan_memory(program, target_.most, scratch, reuse);
}

void Executor::place(const Regions& regions) {
  views_.resize(program_.values().size());
  for (std::size_t i = 0; i < views_.size(); ++i) {
    const ir::ValueInfo& v = program_.values()[i];
    if (v.kind == ir::Kind::weight) {
      if (!views_[i]) fail_bug("weight {} is bound to nothing", v.name);
      continue;
    }
    const ir::Value first = program_.first_version(ir::Value{std::int32_t(i)});
    std::byte* const region = v.kind == ir::Kind::input   ? regions.inputs
                              : v.kind == ir::Kind::state ? regions.states
                                                          : regions.arena;
    const std::int64_t offset = plan_.offset[std::size_t(first.id)];
    views_[i] = {.data = offset < 0 ? nullptr : region + offset, .dtype = v.dtype, .rank = v.shape.rank};
  }
  bind(target_.most);
}

void Executor::bind(const Sizes& sizes) {
  const Sizes& most = target_.most;
  if (sizes.tokens > most.tokens || sizes.sequences > most.sequences || sizes.rows > most.rows)
    fail_bug("a step of {} tokens, {} sequences, {} rows; planned for {}, {}, {}", sizes.tokens, sizes.sequences,
             sizes.rows, most.tokens, most.sequences, most.rows);
  bound_ = sizes;
  for (std::size_t i = 0; i < views_.size(); ++i) {
    const ir::ValueInfo& v = program_.values()[i];
    if (v.kind == ir::Kind::weight) continue;
    for (int d = 0; d < v.shape.rank; ++d) views_[i].dims[d] = sizes.of(v.shape[d]);
  }
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const ir::Call& c = program_.calls()[i];
    for (std::size_t k = 0; k < c.in.size(); ++k) steps_[i].in[k] = c.in[k] ? view(c.in[k]) : View{};
    for (std::size_t k = 0; k < c.out.size(); ++k) steps_[i].out[k] = view(c.out[k]);
    steps_[i].idle = std::ranges::all_of(steps_[i].out, [](const View& v) { return v.rows() * v.columns() == 0; });
  }
}

static ir::KernelChoice choose_on_host(const ir::Program& p, const ir::Call& c, const ir::Target& target) {
  return c.op->choose(p, c, target);
}

HostExecutor::HostExecutor(const ir::Program& program, const ir::Target& target, ThreadPool& pool,
                           std::vector<View> weights, Reuse reuse)
    : Executor(program, target, std::move(weights), reuse, choose_on_host), pool_(pool) {
  if (pool.threads() > target.threads)  // kernels size their scratch by it
    fail_bug("a pool of {} threads for kernels chosen for {}", pool.threads(), target.threads);
  arena_ = Arena(plan_.arena_bytes);  // small pages: a small step touches little of each value's place
  inputs_ = Arena(plan_.input_bytes);
  states_ = Arena(plan_.state_bytes);
  scratch_ = Arena(plan_.scratch_bytes);
  place({.inputs = inputs_.data(), .states = states_.data(), .arena = arena_.data()});
}

void HostExecutor::run(Observer* observer) {
  const std::span<std::byte> scratch(scratch_.data(), std::size_t(scratch_.bytes()));
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const ir::Call& call = program_.calls()[i];
    Prepared& step = steps_[i];
    if (step.idle) continue;
    if (observer) observer->before(i);
    try {
      step.choice.run(ir::Bound{step.in, step.out, call.params, pool_, scratch});
    } catch (const Error& e) {
      throw Error(e.fault(), fmt::format("{}: {}", call.text(), e.what()));
    }
    if (observer) observer->after(i);
  }
}

}  // namespace ridge::program
