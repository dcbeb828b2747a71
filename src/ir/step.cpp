#include "ir/step.h"

#include <algorithm>
#include <cmath>

namespace ridge::ir {
namespace {

// Keys seen by queries at positions past .. past + queries - 1, each seeing at most `window` (0: all before it).
double keys_seen(const Span& s, std::int64_t window) {
  const double n = double(s.queries), first = double(s.past) + 1, last = double(s.past) + n;
  if (window <= 0 || last <= double(window)) return n * (first + last) / 2;
  if (first >= double(window)) return n * double(window);
  const double growing = double(window) - first;  // queries that see fewer than the window
  return growing * (first + double(window) - 1) / 2 + (n - growing) * double(window);
}

// Experts that `tokens` tokens meet, if each chooses evenly and on its own: E (1 - (1 - k / E)^T).
double experts_met(const StepRules& rules, double tokens) {
  if (rules.experts == 0) return 0;
  const double all = double(rules.experts);
  return all * (1 - std::pow(1 - double(rules.experts_used) / all, tokens));
}

}  // namespace

Step Step::of(std::span<const Span> spans, std::int64_t rows_wanted, const StepRules& rules) {
  const std::int64_t window = rules.window;
  Step step;
  auto add = [&](Term t, double v) { step.at[int(t)] += v; };
  add(Term::one, 1);
  add(Term::rows, double(rows_wanted));
  for (const Span& s : spans) {
    if (s.queries == 0) continue;
    const std::int64_t keys = s.past + s.queries;
    add(Term::tokens, double(s.queries));
    add(Term::sequences, 1);
    add(Term::context, double(keys));
    add(Term::query_context, keys_seen(s, 0));
    add(Term::windowed_context, double(window > 0 ? std::min(keys, window + s.queries - 1) : keys));
    add(Term::windowed_query_context, keys_seen(s, window));
  }
  add(Term::experts, experts_met(rules, step[Term::tokens]));
  return step;
}

}  // namespace ridge::ir
