#include "engine/token_counts.h"

#include <algorithm>
#include <bit>

namespace ridge::engine {

std::int64_t TokenCounts::most_adjusts(std::int64_t most_tokens, std::int64_t vocabulary) {
  return std::min(vocabulary, most_tokens + std::int64_t(most_logit_biases));
}

TokenCounts::TokenCounts(const SamplingParams& params, std::span<const std::int32_t> prompt, std::int64_t most_tokens)
    : counts_(params.repetition_penalty != 1 || params.frequency_penalty != 0 || params.presence_penalty != 0) {
  const std::size_t most = params.logit_bias.size() + (counts_ ? std::size_t(most_tokens) : 0);
  list_.reserve(most);
  slots_.assign(std::bit_ceil(std::max<std::size_t>(1, 2 * most)), -1);
  for (const LogitBias& b : params.logit_bias) entry(b.token).bias += b.bias;
  if (counts_)
    for (std::int32_t token : prompt) entry(token).seen = 1;
}

void TokenCounts::generated(std::int32_t token) {
  if (!counts_) return;
  op::SampleAdjust& a = entry(token);
  a.seen = 1;
  ++a.generated;
}

op::SampleAdjust& TokenCounts::entry(std::int32_t token) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = (std::uint64_t(token) * 0x9e3779b97f4a7c15u >> 32) & mask;  // multiplicative hashing, Knuth 6.4
  while (slots_[slot] >= 0 && list_[std::size_t(slots_[slot])].token != token) slot = (slot + 1) & mask;
  if (slots_[slot] < 0) {
    slots_[slot] = std::int32_t(list_.size());
    list_.push_back({.token = token});
  }
  return list_[std::size_t(slots_[slot])];
}

}  // namespace ridge::engine
