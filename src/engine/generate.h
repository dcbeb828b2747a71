// Text for one or several prompts: runs an engine to their ends and hands out whole characters as they come.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "text/tokenizer.h"

namespace ridge::engine {

struct Watch {  // all optional
  // Text of prompt `index` that is complete now: never part of a character or of a stop string.
  std::function<void(std::size_t index, std::string_view text)> on_text;
  // After each step, with the seconds that it took: what prices are compared with.
  std::function<void(const StepReport&, double seconds)> on_step;
  // Asked before each step. True: everything ends where it is, with its text, as cancelled (base/interrupt.h).
  std::function<bool()> interrupted;
};

struct TextOptions {
  text::SpecialTokens special = text::SpecialTokens::skip;
  text::Position position = text::Position::start;  // middle: the text continues the prompt and keeps its first space
};

struct Generation {
  std::string text;                  // without the stop string or the end token
  std::vector<std::int32_t> tokens;  // all that were generated, an end token included
  FinishReason finish = FinishReason::none;
  std::string stop;   // the stop string that ended it; empty: none did
  std::string error;  // with FinishReason::error; the text until then is kept
  std::int64_t prompt_tokens = 0;
  std::vector<double> token_s;  // when each token was there, in seconds from the start
};

struct Generated {
  std::vector<Generation> each;  // by prompt
  // Steps that ran some prompt, and steps that only generated; tokens that they ran, and seconds that they took. For
  // one prompt the first is its way to its first token, and the second yields all tokens but the first.
  std::int64_t prompt_tokens = 0, generation_tokens = 0;
  double prompt_s = 0, generation_s = 0;
};

// Runs `requests` on an engine that nobody else uses meanwhile. `clock` yields seconds and never goes back (a
// measure::Timer). Throws what Engine::add refuses, before anything has run, with the prompt's number where there are
// several; what a step throws comes through, and the engine is empty after it.
Generated generate(Engine& engine, const text::Tokenizer& tokenizer, const std::vector<Request>& requests,
                   const std::function<double()>& clock, const Watch& watch = {}, const TextOptions& options = {});

// A tokenizer's ids as the model's inputs have them.
std::vector<std::int32_t> prompt_of(std::span<const text::TokenId> ids);

// Cuts a prompt that is too long for the context to its last tokens. It leaves room for `max_tokens`, but gives up no
// more than half of the context for that (for a quarter where max_tokens is not said). Returns how many tokens were
// cut.
std::int64_t keep_last_tokens(std::vector<std::int32_t>& prompt, std::int64_t context,
                              std::optional<std::int64_t> max_tokens);

}  // namespace ridge::engine
