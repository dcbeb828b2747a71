#include "cli/run_summary.h"

#include <algorithm>

#include "base/format.h"
#include "base/report.h"
#include "roof/priced_program.h"

namespace ridge::cli {

void StepLog::add(const engine::StepReport& r, double seconds) {
  steps.push_back({{r.spans.begin(), r.spans.end()}, r.rows, r.prompt_tokens, r.generation_tokens, seconds});
}

Stage priced_stage(const StepLog& log, bool prefill, const model::Loaded& model, const hw::Ceilings& ceilings,
                   int threads) {
  const roof::PricedProgram priced(model.program(), model.config().step_rules(), model.memory().arena);
  Stage stage;
  double by_limiter[4] = {};
  for (const StepLog::Entry& e : log.steps) {
    if ((e.prompt_tokens > 0) != prefill) continue;
    const ir::Step step = priced.step(e.spans, e.rows);
    const roof::Machine machine = priced.machine_for(step, ceilings, threads);
    const roof::Price price = priced.sum(step, machine);
    stage.tokens += e.prompt_tokens + e.generation_tokens;
    stage.seconds += e.seconds;
    stage.bound_seconds += price.bound;
    stage.memory_bytes += price.memory_bytes;
    stage.flops += price.flops;
    stage.read_ceiling = machine.read;
    by_limiter[int(price.limiter)] += price.bound;
  }
  stage.limiter = name(roof::Limiter(std::max_element(by_limiter, by_limiter + 4) - by_limiter));
  return stage;
}

static std::string text_of(const Stage& s, std::string_view what) {
  std::string limit(s.limiter);
  if (s.limiter == "memory")
    limit = fmt::format("memory read {} of {}", format_quantity(s.memory_bytes / s.seconds, Unit::bytes_per_s),
                        format_quantity(s.read_ceiling, Unit::bytes_per_s));
  if (s.limiter == "compute")
    limit = fmt::format("compute {} of {}", format_quantity(s.flops / s.seconds, Unit::op_per_s),
                        format_quantity(s.flops / s.bound_seconds, Unit::op_per_s));
  return fmt::format("{} {} tok  {}  {} of bound ({})", what, format_count(s.tokens),
                     format_quantity(s.tokens_per_s(), Unit::tokens_per_s),
                     format_quantity(s.of_bound(), Unit::fraction), limit);
}

std::string text_of(const Summary& s) {
  std::string line = text_of(s.prefill, "prefill");
  if (s.decode.tokens > 0) line += " · " + text_of(s.decode, "decode");
  line += fmt::format(" · first token {} · peak memory {} (predicted {})", format_seconds(s.first_token_s),
                      format_bytes(double(s.peak_bytes)), format_bytes(double(s.predicted_bytes)));
  return line;
}

static void add_stage(Report& report, const Stage& s, const std::string& key) {
  report.section(key, key)
      .add("tokens", "tokens", s.tokens, Unit::count)
      .add("seconds", "seconds", s.seconds, Unit::seconds)
      .add("tokens_per_s", "rate", s.tokens_per_s(), Unit::tokens_per_s)
      .add("bound_seconds", "bound", s.bound_seconds, Unit::seconds)
      .add("fraction_of_bound", "of bound", s.of_bound(), Unit::fraction)
      .add("limiter", "limiter", s.limiter)
      .add("memory_bytes", "weights and KV read", s.memory_bytes, Unit::bytes)
      .add("read_ceiling_bytes_per_s", "read ceiling", s.read_ceiling, Unit::bytes_per_s)
      .add("flops", "work", s.flops, Unit::flop);
}

void add_to(Report& report, const Summary& s) {
  report.section("timings", "timings")
      .add("load_s", "load", s.load_s, Unit::seconds)
      .add("first_token_s", "first token", s.first_token_s, Unit::seconds);
  add_stage(report, s.prefill, "prefill");
  add_stage(report, s.decode, "decode");
  report.section("memory", "memory")
      .add("peak_bytes", "peak", s.peak_bytes, Unit::bytes)
      .add("predicted_bytes", "predicted", s.predicted_bytes, Unit::bytes);
}

}  // namespace ridge::cli
