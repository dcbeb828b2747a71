// ridge bench: op cases against their bound and the reference; a whole model beside its bound.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <random>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "cli/load_for_steps.h"
#include "cli/machine.h"
#include "cli/options.h"
#include "cli/step.h"
#include "cli/verb.h"
#include "measure/machine_state.h"
#include "measure/memory.h"
#include "measure/protocol.h"
#include "measure/timer.h"
#include "op/run_case.h"
#include "op/table.h"
#include "roof/priced_program.h"

namespace ridge::cli {
namespace {

// ---- op cases

std::int64_t case_bytes(const ir::Program& p, const Sizes& sizes) {
  std::int64_t total = 0;
  for (const ir::ValueInfo& v : p.values()) total += v.version_of ? 0 : program::value_bytes(v, sizes);
  return total;
}

void bench_case(Table& table, const op::Row& row, const op::Case& c, const hw::Ceilings& ceilings, int threads,
                ThreadPool& pool) {
  const ir::Target target{.device = ir::Device::cpu, .isa = hw::isa(), .threads = threads};
  op::CaseRun first(c, target, pool);
  const std::int64_t bytes = case_bytes(first.program(), c.sizes);
  std::vector<std::unique_ptr<op::CaseRun>> runs;  // different inputs, so that together they exceed the caches
  const int inputs = measure::inputs_needed(bytes, measure::Heat::cold);
  for (int i = 0; i < inputs; ++i) runs.push_back(std::make_unique<op::CaseRun>(c, target, pool, std::uint64_t(i) + 1));
  const measure::Result r = measure::run({.name = c.name,
                                          .run = [&](int i) { runs[std::size_t(i)]->run(); },
                                          .inputs = inputs,
                                          .working_set_bytes = bytes});

  const std::vector<ir::Span> spans = c.spans();
  const ir::Step step = ir::Step::of(spans, c.sizes.rows, c.rules);
  const ir::Cost cost = first.call().op->cost(first.program(), first.call());
  const roof::Price price = roof::price_alone(cost, step, ceilings, threads);  // all inputs come from memory
  const double s = r.seconds.median;
  table.row({row.op->name, c.name, first.choice().kernel, s, r.seconds.spread(),
             (price.memory_bytes + price.activation_bytes) / s, price.flops / s, price.bound,
             std::string(name(price.limiter)), price.bound / s});
}

int bench_ops(const std::vector<std::string>& wanted, const CommonFlags& common, int threads) {
  for (const std::string& w : wanted)
    if (!op::find(w))
      fail_input("there is no op '{}'; 'ridge support' lists them, 'ridge bench model MODEL' runs a model", w);
  const hw::Ceilings ceilings = ceilings_of("this", threads);
  ThreadPool pool(threads);
  Report report = make_report("bench");
  Table& table = report.table("cases", "",
                              {{"op", "op"},
                               {"case", "case"},
                               {"kernel", "kernel"},
                               {"seconds", "time", Unit::seconds},
                               {"spread", "spread", Unit::fraction},
                               {"bytes_per_s", "traffic", Unit::bytes_per_s},
                               {"ops_per_s", "rate", Unit::op_per_s},
                               {"bound_seconds", "bound", Unit::seconds},
                               {"limiter", "limiter"},
                               {"fraction_of_bound", "of bound", Unit::fraction}});
  for (const op::Row& row : op::table()) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), row.op->name) == wanted.end()) continue;
    for (const op::Case& c : row.cases())
      if (c.timed) bench_case(table, row, c, ceilings, threads, pool);
  }
  report.note(
      "inputs rotate through three times the last-level cache: every input comes from memory; bounds are this "
      "machine's measured ceilings");
  print(report, common.form());
  return exit_done;
}

// ---- a whole model

struct ModelBench {
  std::int64_t prefill = 512, decode = 128, depth = 0, batch = 1, step = 512;
  int repeat = 5;
};

std::vector<std::int32_t> random_ids(std::int64_t count, std::int64_t vocab, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::int32_t> ids(static_cast<std::size_t>(count));
  for (std::int32_t& id : ids) id = std::int32_t(random() % std::uint64_t(vocab));
  return ids;
}

// Fills every sequence up to `length` tokens, one sequence at a time in chunks.
double fill(Stepper& stepper, std::int64_t batch, std::span<const std::int32_t> ids, std::int64_t chunk) {
  const measure::Timer timer;
  for (std::int64_t s = 0; s < batch; ++s)
    for (std::size_t at = 0; at < ids.size(); at += std::size_t(chunk)) {
      const Stepper::Part part{std::size_t(s),
                               ids.subspan(at, std::min<std::size_t>(std::size_t(chunk), ids.size() - at))};
      stepper.append({&part, 1}, Want::last_row);
    }
  stepper.wait();
  return timer.seconds();
}

double decode(Stepper& stepper, std::int64_t batch, std::span<const std::int32_t> ids) {
  std::vector<Stepper::Part> parts(static_cast<std::size_t>(batch));
  const measure::Timer timer;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    stop_if_interrupted("measuring");
    for (std::size_t s = 0; s < parts.size(); ++s) parts[s] = {s, ids.subspan(i, 1)};
    stepper.append(parts, Want::last_row);
    stepper.wait();  // as whoever draws the next token from its logits must
  }
  return timer.seconds();
}

struct Bounds {
  double prefill_s = 0, decode_s = 0;
  std::string prefill_limiter, decode_limiter;
  double read_ceiling = 0;
};

Bounds bounds_of(const model::Loaded& m, const ModelBench& b, const hw::Ceilings& ceilings, int threads) {
  const roof::PricedProgram priced(m.program(), m.config().step_rules(), m.memory().arena);
  Bounds bounds;
  auto add = [&](std::vector<ir::Span> spans, double& seconds, std::string& limiter) {
    const ir::Step step = priced.step(spans, std::int64_t(spans.size()));
    const roof::Machine machine = priced.machine_for(step, ceilings, threads);
    const roof::Price price = priced.sum(step, machine);
    seconds += price.bound;
    limiter = name(price.limiter);
    bounds.read_ceiling = machine.read;
  };
  for (std::int64_t at = 0; at < b.prefill; at += b.step)
    add({{std::min(b.step, b.prefill - at), b.depth + at}}, bounds.prefill_s, bounds.prefill_limiter);
  for (std::int64_t i = 0; i < b.decode; ++i)
    add(std::vector<ir::Span>(std::size_t(b.batch), {1, b.depth + i}), bounds.decode_s, bounds.decode_limiter);
  return bounds;
}

void add_stage(Report& report, const std::string& what, double tokens, const std::vector<double>& seconds,
               double bound_s, const std::string& limiter) {
  const measure::Statistics s = measure::statistics(seconds);
  report.section("", "")
      .add(what + "_tokens_per_s", what, tokens / s.median, Unit::tokens_per_s)
      .add(what + "_bound_tokens_per_s", "bound", tokens / bound_s, Unit::tokens_per_s)
      .add(what + "_fraction_of_bound", "of bound", bound_s / s.median, Unit::fraction)
      .add(what + "_limiter", "limiter", limiter)
      .add(what + "_seconds", "median time", s.median, Unit::seconds)
      .add(what + "_spread", "spread", s.spread(), Unit::fraction);
}

int bench_model(const ModelFlags& flags, const ModelBench& b, const CommonFlags& common) {
  const int threads = flags.thread_count();
  ThreadPool pool(threads);
  ModelFlags sized = flags;
  const std::int64_t needed = b.depth + std::max(b.prefill, b.decode);
  if (flags.context == 0) sized.context = needed;
  const auto model =
      load_for_steps(sized, {.longest = needed, .tokens = std::max(b.step, b.batch), .sequences = b.batch}, pool);
  const hw::Ceilings ceilings = ceilings_of(model->options(), threads);
  Stepper stepper(*model);
  const std::int64_t vocab = model->config().vocab;
  const std::vector<std::int32_t> deep = random_ids(b.depth, vocab, 1);

  std::vector<double> prefill_s, decode_s;
  Progress progress("bench", b.repeat + 1);
  const measure::LoadMark begin = measure::load_mark();
  for (int r = 0; r <= b.repeat; ++r, progress.advance()) {  // the first is the warm-up
    stop_if_interrupted("measuring");
    const std::vector<std::int32_t> ids = random_ids(std::max(b.prefill, b.decode), vocab, std::uint64_t(r) + 2);
    const std::span<const std::int32_t> all(ids);
    stepper.restart();
    if (r == 0) fill(stepper, b.batch, deep, b.step);
    if (b.prefill > 0) {
      stepper.restart(b.depth);
      const double s = fill(stepper, 1, all.first(std::size_t(b.prefill)), b.step);
      if (r > 0) prefill_s.push_back(s);
    }
    if (b.decode > 0) {
      stepper.restart(b.depth);
      const double s = decode(stepper, b.batch, all.first(std::size_t(b.decode)));
      if (r > 0) decode_s.push_back(s);
    }
  }
  const Bounds bounds = bounds_of(*model, b, ceilings, threads);
  Report report = make_report("bench");
  report.section("", "")
      .add("model", "model", printable(model->config().name))
      .add("threads", "threads", threads, Unit::count)
      .add("batch", "sequences", b.batch, Unit::count)
      .add("depth", "tokens in the cache before", b.depth, Unit::count)
      .add("prefill", "prompt tokens", b.prefill, Unit::count)
      .add("decode", "tokens decoded by each", b.decode, Unit::count)
      .add("repeat", "repeats", b.repeat, Unit::count);
  if (!prefill_s.empty())
    add_stage(report, "prefill", double(b.prefill), prefill_s, bounds.prefill_s, bounds.prefill_limiter);
  if (!decode_s.empty())
    add_stage(report, "decode", double(b.decode * b.batch), decode_s, bounds.decode_s, bounds.decode_limiter);
  report.section("", "")
      .add("read_ceiling_bytes_per_s", "read ceiling", bounds.read_ceiling, Unit::bytes_per_s)
      .add("peak_memory_bytes", "peak memory", measure::peak_memory_bytes(), Unit::bytes)
      .add("taken_by_others", "processors taken by others", measure::taken_by_others(begin, measure::load_mark()),
           Unit::fraction);
  print(report, common.form());
  return exit_done;
}

}  // namespace

int bench_verb(std::vector<std::string> arguments) {
  const bool whole = !arguments.empty() && arguments[0] == "model";
  if (whole) arguments.erase(arguments.begin());
  CLI::App app(
      "Times op cases against their bound, or a whole model beside its bound.\n"
      "examples: ridge bench linear attention\n"
      "          ridge bench model model.gguf --prefill 512 --decode 128 --depth 0 --batch 1 --threads 2 --repeat 5",
      whole ? "bench model" : "bench");
  CommonFlags common;
  ModelFlags flags;
  ModelBench b;
  std::vector<std::string> ops;
  common.add_to(app);
  if (whole) {
    flags.add_to(app, ModelArgument::optional);
    flags.add_shape_to(app);
    app.add_option("--prefill", b.prefill, "prompt tokens; 0: no prefill")
        ->check(CLI::Range(0, 1 << 24))
        ->capture_default_str();
    app.add_option("--decode", b.decode, "tokens that each sequence decodes; 0: no decode")
        ->check(CLI::Range(0, 1 << 24))
        ->capture_default_str();
    app.add_option("--depth", b.depth, "tokens in the cache before")
        ->check(CLI::Range(0, 1 << 24))
        ->capture_default_str();
    app.add_option("--batch", b.batch, "sequences that decode at once")
        ->check(CLI::Range(1, 4096))
        ->capture_default_str();
    app.add_option("--batch-tokens", b.step, "most tokens of a step")
        ->check(CLI::Range(1, 1 << 20))
        ->capture_default_str();
    app.add_option("--repeat", b.repeat, "measured repeats, after one warm-up")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
  } else {
    app.add_option("OP", ops, "ops whose cases are timed; default: all");
    app.add_option("--threads", flags.threads, "threads")->check(CLI::Range(1, max_threads));
  }
  if (!parse(app, std::move(arguments))) return exit_done;
  common.apply();
  if (whole && b.prefill + b.decode == 0) fail_input("--prefill 0 and --decode 0: nothing to do");
  return whole ? bench_model(flags, b, common) : bench_ops(ops, common, flags.thread_count());
}

}  // namespace ridge::cli
