// What a sequence's tokens and the user's biases do to its next logits: the list of adjustments that op/sampling
// reads, kept up to date token by token.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "engine/sampling_params.h"
#include "op/sampling/sampling.h"

namespace ridge::engine {

class TokenCounts {
 public:
  TokenCounts() = default;
  // `most_tokens`: the longest that the sequence can become; nothing is allocated after this. Where the parameters
  // have no penalties the tokens do not matter and only biases are listed.
  TokenCounts(const SamplingParams& params, std::span<const std::int32_t> prompt, std::int64_t most_tokens);

  void generated(std::int32_t token);                                  // O(1)
  std::span<const op::SampleAdjust> adjusts() const { return list_; }  // each token once, in order of first occurrence

  // Entries that a list can have at most: what the runner makes room for.
  static std::int64_t most_adjusts(std::int64_t most_tokens, std::int64_t vocabulary);

 private:
  op::SampleAdjust& entry(std::int32_t token);

  std::vector<op::SampleAdjust> list_;
  std::vector<std::int32_t> slots_;  // open addressing, a power of two, at most half full: index into list_ or -1
  bool counts_ = false;              // whether the tokens matter
};

}  // namespace ridge::engine
