// Runs steps: what the scheduler planned becomes the program's inputs, the program runs, and its last call, sampling,
// yields the next tokens.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "engine/capacity.h"
#include "engine/scheduler.h"
#include "engine/sequence.h"

namespace ridge::engine {

class Runner {
 public:
  // `model` was loaded with for_generation of the same capacity, which is refused as a bug otherwise; it must outlive
  // the runner, which alone runs it.
  Runner(model::Loaded& model, const Capacity& capacity);

  // Runs one step. Each share's sequence must hold the blocks of its share. Returns the tokens drawn, one for each
  // share that wants one, in their order, valid until the next run; -1 where the logits hold a NaN or nothing finite.
  // Allocates nothing.
  std::span<const std::int32_t> run(std::span<const Share> shares, std::span<const Sequence> sequences,
                                    program::Observer* observer = nullptr);

  // After a -1: runs the same step again (it writes the same keys and values to the same places) and says which call
  // is the first to yield a value that is not finite. The tokens drawn are the same again.
  std::string blame_for_missing_token();

  std::int64_t vocabulary() const { return model_.config().vocab; }
  const Capacity& capacity() const { return capacity_; }
  const model::Loaded& model() const { return model_; }

 private:
  void write_sampling(std::span<const Share> shares, std::span<const Sequence> sequences);

  model::Loaded& model_;
  Capacity capacity_;
};

}  // namespace ridge::engine
