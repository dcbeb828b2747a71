#include "engine/scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "engine/kv_pool.h"

namespace ridge::engine {
namespace {

StepPlan plan(const std::vector<Progress>& sequences, std::int64_t free_blocks, const Limits& limits) {
  StepPlan p;
  plan_step(sequences, free_blocks, limits, p);
  return p;
}

std::vector<std::int64_t> counts_by_sequence(const StepPlan& p, std::size_t sequences) {
  std::vector<std::int64_t> counts(sequences, 0);
  for (const Share& s : p.shares) counts[std::size_t(s.sequence)] += s.count;
  return counts;
}

constexpr Phase waiting = Phase::waiting, running = Phase::running;

TEST(Scheduler, NothingToDo) { EXPECT_TRUE(plan({}, 10, {}).shares.empty()); }

TEST(Scheduler, APromptRunsInChunksAndWantsATokenAtItsEnd) {
  const Limits limits{.batch_tokens = 8, .sequences = 2, .block_tokens = 4};
  StepPlan p = plan({{.tokens = 19}}, 10, limits);
  ASSERT_EQ(p.shares.size(), 1u);
  EXPECT_EQ(p.shares[0].first, 0);
  EXPECT_EQ(p.shares[0].count, 8);
  EXPECT_FALSE(p.shares[0].wants_token);
  p = plan({{.tokens = 19, .cached = 16, .blocks = 4, .phase = running}}, 6, limits);
  ASSERT_EQ(p.shares.size(), 1u);
  EXPECT_EQ(p.shares[0].first, 16);
  EXPECT_EQ(p.shares[0].count, 3);
  EXPECT_TRUE(p.shares[0].wants_token);
}

TEST(Scheduler, GenerationComesFirstThenPromptsByAge) {
  const Limits limits{.batch_tokens = 10, .sequences = 4, .block_tokens = 4};
  const StepPlan p = plan({{.tokens = 30, .cached = 8, .blocks = 2, .phase = running},
                           {.tokens = 6, .cached = 5, .blocks = 2, .phase = running},
                           {.tokens = 5},
                           {.tokens = 9, .cached = 8, .blocks = 2, .phase = running}},
                          100, limits);
  EXPECT_EQ(counts_by_sequence(p, 4), (std::vector<std::int64_t>{8, 1, 0, 1}));
  EXPECT_EQ(p.shares[0].sequence, 1);
  EXPECT_EQ(p.shares[1].sequence, 3);
  EXPECT_EQ(p.shares[2].sequence, 0);
}

TEST(Scheduler, AdmitsSeveralAtOnceUpToTheLimits) {
  const Limits limits{.batch_tokens = 100, .sequences = 3, .block_tokens = 4};
  const StepPlan p = plan({{.tokens = 5}, {.tokens = 7}, {.tokens = 2}, {.tokens = 1}}, 100, limits);
  EXPECT_EQ(counts_by_sequence(p, 4), (std::vector<std::int64_t>{5, 7, 2, 0}));
}

TEST(Scheduler, AdmissionKeepsBlocksThatRunningPromptsStillNeed) {
  const Limits limits{.batch_tokens = 4, .sequences = 4, .block_tokens = 4};
  // The running prompt needs 3 more blocks (1 of them now) and a spare one; the waiting one needs 2.
  const std::vector<Progress> sequences = {{.tokens = 20, .cached = 8, .blocks = 2, .phase = running}, {.tokens = 8}};
  Limits wide = limits;
  wide.batch_tokens = 6;
  EXPECT_EQ(counts_by_sequence(plan(sequences, 5, wide), 2)[1], 0);
  wide.batch_tokens = 16;
  EXPECT_EQ(counts_by_sequence(plan(sequences, 5, wide), 2), (std::vector<std::int64_t>{12, 0}));
  EXPECT_EQ(counts_by_sequence(plan(sequences, 6, wide), 2), (std::vector<std::int64_t>{12, 4}));
}

TEST(Scheduler, NobodyOvertakesTheFirstInLine) {
  const Limits limits{.batch_tokens = 64, .sequences = 4, .block_tokens = 4};
  const StepPlan p =
      plan({{.tokens = 9, .cached = 8, .blocks = 3, .phase = running}, {.tokens = 40}, {.tokens = 1}}, 5, limits);
  EXPECT_EQ(counts_by_sequence(p, 3), (std::vector<std::int64_t>{1, 0, 0}));
}

TEST(Scheduler, AFullPoolPreemptsTheYoungest) {
  const Limits limits{.batch_tokens = 64, .sequences = 4, .block_tokens = 4};
  const std::vector<Progress> sequences = {{.tokens = 9, .cached = 8, .blocks = 2, .phase = running},
                                           {.tokens = 13, .cached = 12, .blocks = 3, .phase = running},
                                           {.tokens = 6, .cached = 5, .blocks = 2, .phase = running},
                                           {.tokens = 3}};
  StepPlan p = plan(sequences, 0, limits);
  EXPECT_EQ(p.preempted, (std::vector<std::int32_t>{2}));
  EXPECT_EQ(counts_by_sequence(p, 4), (std::vector<std::int64_t>{1, 1, 0, 0}));
}

TEST(Scheduler, TheYoungestGivesWayItself) {
  const Limits limits{.batch_tokens = 64, .sequences = 4, .block_tokens = 4};
  const StepPlan p = plan({{.tokens = 6, .cached = 5, .blocks = 2, .phase = running},
                           {.tokens = 9, .cached = 8, .blocks = 2, .phase = running}},
                          0, limits);
  EXPECT_EQ(p.preempted, (std::vector<std::int32_t>{1}));
  EXPECT_EQ(counts_by_sequence(p, 2), (std::vector<std::int64_t>{1, 0}));
}

// A whole engine's life without an engine: random arrivals, lengths and limits, and a real pool behind the plan.
class Simulation {
 public:
  explicit Simulation(unsigned seed) : random_(seed) {
    limits_.block_tokens = pick(1, 9);
    limits_.sequences = pick(1, 6);
    limits_.batch_tokens = limits_.sequences + pick(0, 20);
    longest_ = pick(2, 60);
    pool_blocks_ = blocks_for(longest_, limits_.block_tokens) + pick(0, 12);
  }

  void run() {
    KvPool pool(pool_blocks_, limits_.block_tokens);
    std::int64_t arrivals = 40, last_step_with_arrival = 0;
    StepPlan p;
    for (std::int64_t step = 0; arrivals > 0 || !live_.empty(); ++step) {
      ASSERT_LT(step - last_step_with_arrival, 40 * 61 * 61) << "somebody starves";
      while (arrivals > 0 && (live_.empty() || pick(0, 3) == 0)) --arrivals, arrive(), last_step_with_arrival = step;
      std::vector<Progress> progress;
      for (const Life& l : live_) progress.push_back(l.progress);
      plan_step(progress, pool.free_blocks(), limits_, p);
      ASSERT_FALSE(p.shares.empty()) << "a step without work";
      check(p);
      apply(p, pool);
      if (::testing::Test::HasFatalFailure()) return;
    }
    EXPECT_EQ(pool.free_blocks(), pool_blocks_);
  }

  int preemptions() const { return preemptions_; }

 private:
  struct Life {
    Progress progress;
    std::int64_t ends_at = 0;
    BlockTable table;
  };

  std::int64_t pick(std::int64_t from, std::int64_t to) {
    return std::uniform_int_distribution<std::int64_t>(from, to)(random_);
  }

  void arrive() {
    Life l;
    l.progress.tokens = pick(1, longest_ - 1);
    l.ends_at = pick(l.progress.tokens + 1, longest_);
    live_.push_back(std::move(l));
  }

  void check(const StepPlan& p) {
    std::set<std::int32_t> seen(p.preempted.begin(), p.preempted.end());
    std::int64_t tokens = 0, running_after = 0;
    for (const Share& s : p.shares) {
      ASSERT_TRUE(seen.insert(s.sequence).second) << "a sequence with two shares, or preempted with a share";
      const Progress& g = live_[std::size_t(s.sequence)].progress;
      ASSERT_EQ(s.first, g.cached);
      ASSERT_GE(s.count, 1);
      ASSERT_LE(s.first + s.count, g.tokens);
      ASSERT_EQ(s.wants_token, s.first + s.count == g.tokens);
      tokens += s.count;
      running_after += g.phase == waiting;
    }
    ASSERT_LE(tokens, limits_.batch_tokens);
    for (const Life& l : live_) running_after += l.progress.phase == running;
    ASSERT_LE(running_after - std::int64_t(p.preempted.size()), limits_.sequences);
    ASSERT_EQ(std::ranges::count(p.preempted, 0), 0) << "the oldest was preempted";
    for (std::size_t i = 0; i < live_.size(); ++i) {  // who generates has a token in every step
      const Progress& g = live_[i].progress;
      if (g.phase == running && g.tokens - g.cached == 1) {
        ASSERT_TRUE(seen.contains(std::int32_t(i)));
      }
    }
    bool line = false;  // of those that wait, the first are admitted
    for (std::size_t i = 0; i < live_.size(); ++i) {
      if (live_[i].progress.phase == running) continue;
      const bool admitted = seen.contains(std::int32_t(i));
      ASSERT_FALSE(admitted && line) << "somebody was overtaken";
      line = line || !admitted;
    }
  }

  void apply(const StepPlan& p, KvPool& pool) {
    for (std::int32_t i : p.preempted) {
      Life& l = live_[std::size_t(i)];
      pool.release(l.table);
      ++preemptions_;
      l.progress = {.tokens = l.progress.tokens};
    }
    for (const Share& s : p.shares) {
      Life& l = live_[std::size_t(s.sequence)];
      ASSERT_NO_THROW(pool.grow(l.table, s.first + s.count));
      l.progress.phase = running;
      l.progress.cached += s.count;
      l.progress.blocks = std::int64_t(l.table.size());
      l.progress.tokens += s.wants_token;
    }
    std::set<std::int32_t> held;
    std::size_t count = 0;
    for (const Life& l : live_) held.insert(l.table.begin(), l.table.end()), count += l.table.size();
    ASSERT_EQ(held.size(), count) << "two sequences share a block";
    ASSERT_EQ(pool.free_blocks(), pool_blocks_ - std::int64_t(count));
    std::erase_if(live_, [&](Life& l) {
      const bool done = l.progress.tokens >= l.ends_at;
      if (done) pool.release(l.table);
      return done;
    });
  }

  std::mt19937 random_;
  Limits limits_;
  std::int64_t longest_ = 0, pool_blocks_ = 0;
  int preemptions_ = 0;
  std::vector<Life> live_;
};

TEST(Scheduler, RandomLivesAllEnd) {
  int preemptions = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Simulation s(seed);
    s.run();
    if (HasFatalFailure()) return;
    preemptions += s.preemptions();
  }
  EXPECT_GT(preemptions, 300) << "the pools were too roomy for this test to mean much";
}

}  // namespace
}  // namespace ridge::engine
