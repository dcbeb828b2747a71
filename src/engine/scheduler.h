// Which tokens the next step runs: a pure function of what the sequences have and of the limits. It knows neither
// tokens nor models nor clocks, so that the planner can run the same code on a virtual clock.
//
// The rules, in order:
//  1. Sequences that run are served before sequences that wait, the oldest first. Each that generates gets its one
//     token; what is left of the step's tokens goes to prompts, as chunks, to the oldest first.
//  2. A generating sequence that needs a block when none is free takes those of the youngest running one: that one is
//     preempted. Its cache is dropped and it waits at its old place in the line; once admitted again, its prompt and
//     what it generated are recomputed, which yields the same keys and values, bit by bit.
//  3. A waiting sequence is admitted when the blocks of all its tokens are free beside those that running sequences
//     still need for theirs and one spare block for each of these. Nobody overtakes the first in line.
// So nobody starves: the oldest sequence is never preempted by another, and what finishes makes room. It holds as long
// as each sequence alone fits the pool, which the engine sees to.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace ridge::engine {

enum class Phase : std::uint8_t { waiting, running };

struct Progress {           // what the scheduler knows of a sequence
  std::int64_t tokens = 0;  // known so far: the prompt and what was generated
  std::int64_t cached = 0;  // of these, how many have their keys and values in the cache; less than `tokens`
  std::int64_t blocks = 0;  // held
  Phase phase = Phase::waiting;
};

struct Limits {
  std::int64_t batch_tokens = 512;  // of one step, prompts and generation together
  std::int64_t sequences = 1;       // that run at once; at most batch_tokens
  std::int64_t block_tokens = 32;
};

struct Share {                // one sequence's part of a step
  std::int32_t sequence = 0;  // its index in the list that was planned for
  std::int64_t first = 0;     // position of its first token in this step
  std::int64_t count = 0;     // tokens
  bool wants_token = false;   // its last known token is among them: the logits of that row are wanted
};

struct StepPlan {
  std::vector<std::int32_t> preempted;  // give back their blocks first; none of them has a share
  std::vector<Share> shares;            // generating sequences first; admitted ones run from now on
};

// `sequences` in order of arrival. Writes `plan`, whose storage is used again: no allocation once it has grown.
// Empty exactly when there are no sequences.
void plan_step(std::span<const Progress> sequences, std::int64_t free_blocks, const Limits& limits, StepPlan& plan);

}  // namespace ridge::engine
