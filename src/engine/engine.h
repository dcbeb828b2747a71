// Continuous batching: requests come and go between steps, each step runs some tokens of many sequences at once.
//
// Same parameters, same seed: same tokens, bit by bit, whatever else runs beside, however prompts are cut into chunks,
// however many threads there are, and whether the sequence was preempted or not.
//
// One thread at a time. Nothing is allocated in a step in which nobody arrives.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "engine/runner.h"
#include "ir/step.h"

namespace ridge::engine {

enum class FinishReason : std::uint8_t { none, stop, length, cancelled, error };
std::string_view name(FinishReason reason);  // "stop", as the protocols say it

struct Request {
  std::vector<std::int32_t> tokens;  // the prompt
  SamplingParams sampling;
};

struct Event {  // what a step did for one sequence
  SequenceId id = 0;
  std::int32_t token = -1;                   // the next one, an end token included; -1: there is none (error)
  FinishReason finish = FinishReason::none;  // not none: the sequence is gone
  std::string error;                         // with FinishReason::error: what happened, with the call it happened in
};

struct StepReport {                    // of the last step, for prices and metrics
  std::span<const ir::Span> spans;     // one a sequence
  std::int64_t rows = 0;               // of logits
  std::int64_t prompt_tokens = 0;      // run, recomputed ones included
  std::int64_t generation_tokens = 0;  // run: of sequences that generated one token in this step
  std::int64_t preempted = 0;          // sequences
};

class Engine {
 public:
  // `end_tokens`: the model's own, ids within its vocabulary.
  Engine(Runner& runner, std::span<const std::int32_t> end_tokens);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Refuses (Fault::input) an empty prompt, ids outside the vocabulary, a prompt that leaves no room for a token in the
  // context, and parameters without meaning; what runs already is not touched by that.
  SequenceId add(Request request);

  // Runs one step and says what it yielded, in no particular order; valid until the next call. Without live sequences
  // it does nothing. An error of one sequence is its event; what is thrown concerns all: the step then did not happen.
  std::span<const Event> step(program::Observer* observer = nullptr);

  // The sequence is gone at once, without an event. False: there is none (any more).
  bool cancel(SequenceId id);

  std::size_t live() const { return sequences_.size(); }
  const StepReport& last_step() const { return report_; }  // its spans are valid until the next step
  const KvPool& pool() const { return pool_; }
  const Runner& runner() const { return runner_; }

 private:
  void preempt(std::size_t index);
  void take_blocks(const Share& share);
  void report();
  void advance(const Share& share, std::int32_t token);
  Event take_token(std::size_t index, std::int32_t token);
  FinishReason ending(const Sequence& s) const;
  void remove(std::size_t index);
  void remove_finished();

  Runner& runner_;
  std::vector<std::int32_t> end_tokens_;
  KvPool pool_;
  SequenceId next_id_ = 1;
  std::vector<Sequence> sequences_;  // live, in order of arrival
  std::vector<Progress> progress_;   // of each of them
  StepPlan plan_;
  std::vector<Event> events_;
  std::vector<ir::Span> spans_;
  StepReport report_;
};

}  // namespace ridge::engine
