#include "engine/engine.h"

#include <algorithm>

#include "base/error.h"

namespace ridge::engine {

std::string_view name(FinishReason reason) {
  switch (reason) {
    case FinishReason::none: return "none";
    case FinishReason::stop: return "stop";
    case FinishReason::length: return "length";
    case FinishReason::cancelled: return "cancelled";
    case FinishReason::error: return "error";
  }
  return "?";
}

namespace {

void check_prompt(std::span<const std::int32_t> tokens, std::int64_t vocabulary, std::int64_t context) {
  if (tokens.empty()) fail_input("the prompt has no tokens; accepted: at least 1");
  if (std::int64_t(tokens.size()) >= context)
    fail_input(
        "the prompt has {} tokens and the context holds {}, one of them to generate; shorten the prompt, raise "
        "--context, "
        "or keep only its last tokens with --truncate",
        tokens.size(), context);
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (tokens[i] < 0 || tokens[i] >= vocabulary)
      fail_input("token {} of the prompt is {}; accepted: 0 to {}, the model's vocabulary", i, tokens[i],
                 vocabulary - 1);
}

}  // namespace

Engine::Engine(Runner& runner, std::span<const std::int32_t> end_tokens)
    : runner_(runner),
      end_tokens_(end_tokens.begin(), end_tokens.end()),
      pool_(runner.capacity().blocks(), runner.capacity().block_tokens) {
  const auto most = std::size_t(runner.capacity().sequences);
  plan_.shares.reserve(most), plan_.preempted.reserve(most), events_.reserve(most), spans_.reserve(most);
}

SequenceId Engine::add(Request request) {
  const std::int64_t vocabulary = runner_.vocabulary(), context = runner_.capacity().context;
  check_prompt(request.tokens, vocabulary, context);
  Sequence s;
  s.sampling = checked(std::move(request.sampling), vocabulary);
  s.id = next_id_++;
  s.tokens = std::move(request.tokens);
  s.prompt_tokens = std::int64_t(s.tokens.size());
  const std::int64_t room = context - s.prompt_tokens;
  s.limit = s.prompt_tokens + std::min(room, s.sampling.max_tokens.value_or(room));
  s.counts = TokenCounts(s.sampling, s.tokens, std::min(s.limit, vocabulary));
  s.tokens.reserve(std::size_t(s.limit));
  s.blocks.reserve(std::size_t(pool_.blocks_for(s.limit)));
  progress_.push_back({.tokens = s.prompt_tokens});
  sequences_.push_back(std::move(s));
  return sequences_.back().id;
}

std::span<const Event> Engine::step(program::Observer* observer) {
  events_.clear();
  plan_step(progress_, pool_.free_blocks(), runner_.capacity().limits(), plan_);
  report_ = {};
  if (plan_.shares.empty()) return {};
  for (std::int32_t i : plan_.preempted) preempt(std::size_t(i));
  for (const Share& share : plan_.shares) take_blocks(share);
  const std::span<const std::int32_t> tokens = runner_.run(plan_.shares, sequences_, observer);
  report();
  std::size_t drawn = 0;
  for (const Share& share : plan_.shares) advance(share, share.wants_token ? tokens[drawn++] : -1);
  remove_finished();
  return events_;
}

void Engine::preempt(std::size_t index) {
  pool_.release(sequences_[index].blocks);
  progress_[index] = {.tokens = progress_[index].tokens};
}

void Engine::take_blocks(const Share& share) {
  Sequence& s = sequences_[std::size_t(share.sequence)];
  Progress& p = progress_[std::size_t(share.sequence)];
  pool_.grow(s.blocks, share.first + share.count);
  p.blocks = std::int64_t(s.blocks.size());
  p.phase = Phase::running;
}

void Engine::advance(const Share& share, std::int32_t token) {
  const auto index = std::size_t(share.sequence);
  progress_[index].cached += share.count;
  if (share.wants_token) events_.push_back(take_token(index, token));
}

Event Engine::take_token(std::size_t index, std::int32_t token) {
  Sequence& s = sequences_[index];
  if (token < 0)
    return {s.id, -1, FinishReason::error,
            fmt::format("no token at position {}: {}", s.tokens.size(), runner_.blame_for_missing_token())};
  s.tokens.push_back(token);
  s.counts.generated(token);
  ++progress_[index].tokens;
  return {s.id, token, ending(s), {}};
}

FinishReason Engine::ending(const Sequence& s) const {
  const std::int32_t token = s.tokens.back();
  const bool ends = !s.sampling.ignore_eos && std::ranges::find(end_tokens_, token) != end_tokens_.end();
  if (ends || std::ranges::binary_search(s.sampling.stop_ids, token)) return FinishReason::stop;
  return std::int64_t(s.tokens.size()) >= s.limit ? FinishReason::length : FinishReason::none;
}

void Engine::remove(std::size_t index) {
  pool_.release(sequences_[index].blocks);
  sequences_.erase(sequences_.begin() + std::ptrdiff_t(index));
  progress_.erase(progress_.begin() + std::ptrdiff_t(index));
}

void Engine::remove_finished() {
  for (const Event& e : events_)
    if (e.finish != FinishReason::none) cancel(e.id);
}

bool Engine::cancel(SequenceId id) {
  const auto found = std::ranges::find(sequences_, id, &Sequence::id);
  if (found == sequences_.end()) return false;
  remove(std::size_t(found - sequences_.begin()));
  return true;
}

void Engine::report() {
  spans_.clear();
  report_ = {.preempted = std::int64_t(plan_.preempted.size())};
  for (const Share& share : plan_.shares) {
    const auto index = std::size_t(share.sequence);
    const bool generates = share.count == 1 && share.first >= sequences_[index].prompt_tokens && share.wants_token;
    spans_.push_back({.queries = share.count, .past = share.first});
    report_.rows += share.wants_token;
    (generates ? report_.generation_tokens : report_.prompt_tokens) += share.count;
  }
  report_.spans = spans_;
}

}  // namespace ridge::engine
