// The step descriptor: everything about one step that its cost depends on, in a few numbers.
#pragma once
#include <array>
#include <cstdint>
#include <span>

namespace ridge::ir {

// What a cost may be linear in. `windowed_*` count at most the model's window of keys for each query.
enum class Term : std::uint8_t {
  one,               // constant: weights read once a step
  tokens,            // T: tokens in this step
  sequences,         // B
  rows,              // R: rows whose logits are wanted
  context,           // sum over sequences of the keys that any of its queries sees
  query_context,     // sum over queries of the keys that it sees (causal)
  windowed_context,  // the same two under the sliding window
  windowed_query_context,
  experts,  // distinct experts that a routed layer is expected to read
  count_,
};
inline constexpr int term_count = int(Term::count_);

struct Span {                // one sequence's part of a step
  std::int64_t queries = 0;  // tokens that this step adds
  std::int64_t past = 0;     // tokens in the cache before it
};

// What of a model decides how a step's terms are counted.
struct StepRules {
  std::int64_t window = 0;                     // keys that a windowed layer's query sees; 0: there is no window
  std::int64_t experts = 0, experts_used = 0;  // of a routed layer, of a token; 0: none is routed
};

struct Step {
  std::array<double, term_count> at{};
  double operator[](Term t) const { return at[int(t)]; }

  static Step of(std::span<const Span> spans, std::int64_t rows_wanted, const StepRules& rules = {});
};

}  // namespace ridge::ir
