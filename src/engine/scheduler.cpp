#include "engine/scheduler.h"

#include <algorithm>

#include "engine/kv_pool.h"

namespace ridge::engine {
namespace {

class Planner {
 public:
  Planner(std::span<const Progress> sequences, std::int64_t free_blocks, const Limits& limits, StepPlan& plan)
      : sequences_(sequences), limits_(limits), plan_(plan), free_(free_blocks), tokens_left_(limits.batch_tokens) {
    plan_.preempted.clear();
    plan_.shares.clear();
  }

  void run() {
    for (std::int32_t i = 0; i < count(); ++i)
      if (runs(i) && generates(i) && !preempted(i) && make_room(i)) give(i, 1);
    for (std::int32_t i = 0; i < count(); ++i)
      if (runs(i) && !generates(i) && !preempted(i)) give(i, chunk(i));
    if (plan_.preempted.empty()) admit();
  }

 private:
  std::int32_t count() const { return std::int32_t(sequences_.size()); }
  const Progress& at(std::int32_t i) const { return sequences_[std::size_t(i)]; }
  bool runs(std::int32_t i) const { return at(i).phase == Phase::running; }
  bool generates(std::int32_t i) const { return at(i).tokens - at(i).cached == 1; }
  bool preempted(std::int32_t i) const { return std::ranges::find(plan_.preempted, i) != plan_.preempted.end(); }
  std::int64_t more_blocks(std::int32_t i, std::int64_t tokens) const {
    return std::max<std::int64_t>(0, blocks_for(tokens, limits_.block_tokens) - at(i).blocks);
  }

  // Preempts the youngest until sequence i can have its next token's block. False: i was the youngest itself.
  bool make_room(std::int32_t i) {
    while (free_ < more_blocks(i, at(i).cached + 1)) {
      std::int32_t youngest = count() - 1;
      while (!runs(youngest) || preempted(youngest)) --youngest;
      free_ += at(youngest).blocks;
      plan_.preempted.push_back(youngest);
      if (youngest == i) return false;
    }
    return true;
  }

  // What a prompt may run now: as much as the step has tokens left and the pool has places.
  std::int64_t chunk(std::int32_t i) const {
    const std::int64_t places = (at(i).blocks + free_) * limits_.block_tokens - at(i).cached;
    return std::min({at(i).tokens - at(i).cached, tokens_left_, places});
  }

  void give(std::int32_t i, std::int64_t tokens) {
    if (tokens <= 0) return;
    free_ -= more_blocks(i, at(i).cached + tokens);
    tokens_left_ -= tokens;
    plan_.shares.push_back({i, at(i).cached, tokens, at(i).cached + tokens == at(i).tokens});
  }

  void admit() {
    std::int64_t running = 0, promised = 0;  // blocks that running prompts will still take, and one spare for each
    for (std::int32_t i = 0; i < count(); ++i)
      if (runs(i)) ++running, promised += more_blocks(i, at(i).tokens) + 1;
    for (const Share& s : plan_.shares)  // those that this step takes are no longer among the free ones
      promised -= more_blocks(s.sequence, s.first + s.count);
    for (std::int32_t i = 0; i < count() && running < limits_.sequences && tokens_left_ > 0; ++i) {
      if (runs(i)) continue;
      const std::int64_t needs = more_blocks(i, at(i).tokens);
      if (free_ < promised + needs) return;
      const std::int64_t before = free_;
      give(i, chunk(i));
      ++running, promised += needs - (before - free_) + 1;
    }
  }

  std::span<const Progress> sequences_;
  const Limits& limits_;
  StepPlan& plan_;
  std::int64_t free_, tokens_left_;
};

}  // namespace

void plan_step(std::span<const Progress> sequences, std::int64_t free_blocks, const Limits& limits, StepPlan& plan) {
  Planner(sequences, free_blocks, limits, plan).run();
}

}  // namespace ridge::engine
