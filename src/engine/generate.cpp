#include "engine/generate.h"

#include <algorithm>
#include <deque>

#include "base/error.h"
#include "text/stop.h"

namespace ridge::engine {
namespace {

// One prompt's way from tokens to text.
class Writer {
 public:
  Writer(std::size_t index, SequenceId id, const Request& request, const text::Tokenizer& tokenizer,
         const TextOptions& options)
      : index_(index),
        id_(id),
        decoder_(tokenizer, options.special, options.position),
        matcher_(request.sampling.stop) {
    generation_.prompt_tokens = std::int64_t(request.tokens.size());
  }

  SequenceId id() const { return id_; }
  bool done() const { return generation_.finish != FinishReason::none; }
  const std::string& text() const { return generation_.text; }
  Generation take() { return std::move(generation_); }

  // Takes what a step did. A stop string ends the text before the engine knows: it must then be told.
  void take(const Event& event, double now, const Watch& watch) {
    if (event.token >= 0) {
      generation_.tokens.push_back(event.token);
      generation_.token_s.push_back(now);
    }
    generation_.error = event.error;
    if (event.token >= 0 && event.finish != FinishReason::stop)
      show(matcher_.push(decoder_.push(text::TokenId(event.token))), watch);
    if (matcher_.stopped()) finish(FinishReason::stop, watch);
    else if (event.finish != FinishReason::none) finish(event.finish, watch);
  }

  // The text ends here. What the decoder still holds may complete a stop string.
  void finish(FinishReason reason, const Watch& watch) {
    if (!matcher_.stopped()) show(matcher_.push(decoder_.finish()), watch);
    if (matcher_.stopped()) {
      generation_.stop = *matcher_.stop();
      reason = FinishReason::stop;
    } else {
      show(matcher_.finish(), watch);
    }
    generation_.finish = reason;
  }

 private:
  void show(std::string_view piece, const Watch& watch) {
    if (piece.empty()) return;
    generation_.text += piece;
    if (watch.on_text) watch.on_text(index_, piece);
  }

  std::size_t index_;
  SequenceId id_;
  text::StreamDecoder decoder_;
  text::StopMatcher matcher_;
  Generation generation_;
};

// Whatever happens, the engine is left empty.
class Writers {
 public:
  explicit Writers(Engine& engine) : engine_(engine) {
    if (engine.live() > 0) fail_bug("the engine that is to generate still runs {} other sequences", engine.live());
  }
  ~Writers() { cancel_all(); }
  Writers(const Writers&) = delete;
  Writers& operator=(const Writers&) = delete;

  void add(const std::vector<Request>& requests, const text::Tokenizer& tokenizer, const TextOptions& options) {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      try {
        writers_.emplace_back(i, engine_.add(requests[i]), requests[i], tokenizer, options);
      } catch (const Error& e) {
        if (requests.size() == 1) throw;
        throw Error(e.fault(), fmt::format("prompt {}: {}", i + 1, e.what()));
      }
    }
  }

  void take(const Event& event, double now, const Watch& watch) {
    const auto found = std::ranges::find(writers_, event.id, &Writer::id);
    if (found == writers_.end()) fail_bug("an event of sequence {}, which nobody asked for", event.id);
    found->take(event, now, watch);
    if (found->done()) engine_.cancel(event.id);
  }

  void finish_all(FinishReason reason, const Watch& watch) {
    for (Writer& w : writers_)
      if (!w.done()) w.finish(reason, watch);
    cancel_all();
  }

  std::vector<Generation> results() {
    std::vector<Generation> all;
    for (Writer& w : writers_) all.push_back(w.take());
    return all;
  }

 private:
  void cancel_all() {
    for (const Writer& w : writers_) engine_.cancel(w.id());
  }

  Engine& engine_;
  std::deque<Writer> writers_;  // decoders stay where they are
};

void count(Generated& g, const StepReport& step, double seconds) {
  g.prompt_tokens += step.prompt_tokens;
  g.generation_tokens += step.generation_tokens;
  (step.prompt_tokens > 0 ? g.prompt_s : g.generation_s) += seconds;
}

}  // namespace

Generated generate(Engine& engine, const text::Tokenizer& tokenizer, const std::vector<Request>& requests,
                   const std::function<double()>& clock, const Watch& watch, const TextOptions& options) {
  const double start = clock();
  Writers writers(engine);
  writers.add(requests, tokenizer, options);
  Generated result;
  while (engine.live() > 0) {
    if (watch.interrupted && watch.interrupted()) {
      writers.finish_all(FinishReason::cancelled, watch);
      break;
    }
    const double before = clock();
    const std::span<const Event> events = engine.step();
    const double now = clock();
    count(result, engine.last_step(), now - before);
    if (watch.on_step) watch.on_step(engine.last_step(), now - before);
    for (const Event& e : events) writers.take(e, now - start, watch);
  }
  result.each = writers.results();
  return result;
}

std::vector<std::int32_t> prompt_of(std::span<const text::TokenId> ids) { return {ids.begin(), ids.end()}; }

std::int64_t keep_last_tokens(std::vector<std::int32_t>& prompt, std::int64_t context,
                              std::optional<std::int64_t> max_tokens) {
  const std::int64_t room =
      std::clamp<std::int64_t>(max_tokens.value_or(context / 4), 1, std::max<std::int64_t>(1, context / 2));
  const std::int64_t cut = std::int64_t(prompt.size()) - (context - room);
  if (std::int64_t(prompt.size()) < context || cut <= 0) return 0;
  prompt.erase(prompt.begin(), prompt.begin() + std::ptrdiff_t(cut));
  return cut;
}

}  // namespace ridge::engine
