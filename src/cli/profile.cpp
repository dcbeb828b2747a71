// ridge profile: every call of a step, measured beside predicted, the largest losses first.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <random>

#include "base/error.h"
#include "base/interrupt.h"
#include "cli/load_for_steps.h"
#include "cli/machine.h"
#include "cli/options.h"
#include "cli/step.h"
#include "cli/verb.h"
#include "profile/stamps.h"
#include "roof/priced_program.h"

namespace ridge::cli {
namespace {

std::string role(const ir::Call& c) { return fmt::format("{} {}", c.op->name, c.where.part); }

struct Row {
  std::string what, kernel;
  std::int64_t calls = 0;
  double measured = 0, bound = 0, estimate = 0, bytes = 0, flops = 0;
  double by_limiter[4] = {};
  double loss() const { return measured - bound; }
  std::string limiter() const {
    return std::string(name(roof::Limiter(std::max_element(by_limiter, by_limiter + 4) - by_limiter)));
  }
  void add(const roof::Price& p, double seconds) {
    ++calls, measured += seconds, bound += p.bound, estimate += p.estimate;
    bytes += p.memory_bytes + p.activation_bytes, flops += p.flops;
    by_limiter[int(p.limiter)] += p.bound;
  }
};

void show(Table& table, const Row& r, double step) {
  table.row({r.what, r.kernel, r.calls, r.measured, r.measured / step, r.bound, r.estimate,
             r.measured > 0 ? r.bound / r.measured : 0.0, r.limiter(), r.loss(),
             r.measured > 0 ? r.bytes / r.measured : 0.0, r.measured > 0 ? r.flops / r.measured : 0.0});
}

}  // namespace

int profile_verb(std::vector<std::string> arguments) {
  CLI::App app(
      "Measures every call of a step beside its bound and estimate; rows add up to the step, the largest losses "
      "first.\n"
      "examples: ridge profile model.gguf --depth 512               a decode step with 512 tokens in the cache\n"
      "          ridge profile model.gguf --prefill 512 --calls     a prompt, call by call",
      "profile");
  CommonFlags common;
  ModelFlags flags;
  std::int64_t prefill = 0, depth = 128, batch = 1;
  int repeat = 50;
  bool calls = false;
  common.add_to(app);
  flags.add_to(app, ModelArgument::optional);
  flags.add_shape_to(app);
  app.add_option("--prefill", prefill, "a prompt of so many tokens instead of a decode step")
      ->check(CLI::Range(0, 1 << 20))
      ->capture_default_str();
  app.add_option("--depth", depth, "tokens in the cache before")->check(CLI::Range(0, 1 << 20))->capture_default_str();
  app.add_option("--batch", batch, "sequences that decode at once")->check(CLI::Range(1, 4096))->capture_default_str();
  app.add_option("--repeat", repeat, "steps measured; each call's median is shown")
      ->check(CLI::Range(3, 10000))
      ->capture_default_str();
  app.add_flag("--calls", calls, "every call, not only sums by role");
  if (!parse(app, std::move(arguments))) return exit_done;
  common.apply();

  if (prefill > 0) batch = 1;
  const int threads = flags.thread_count();
  const std::int64_t per_sequence = std::max<std::int64_t>(1, prefill), needed = depth + per_sequence;
  ThreadPool pool(threads);
  if (flags.context == 0) flags.context = needed;
  const auto model = load_for_steps(
      flags, {.longest = needed, .tokens = std::max({per_sequence * batch, depth}), .sequences = batch}, pool);
  const hw::Ceilings ceilings = ceilings_of(model->options(), threads);
  Stepper stepper(*model);
  std::mt19937_64 random(1);
  std::vector<std::int32_t> ids(static_cast<std::size_t>(needed));
  for (std::int32_t& id : ids) id = std::int32_t(random() % std::uint64_t(model->config().vocab));
  const std::span<const std::int32_t> all(ids);
  if (depth > 0)
    for (std::int64_t s = 0; s < batch; ++s) {
      const Stepper::Part part{std::size_t(s), all.first(std::size_t(depth))};
      stepper.append({&part, 1}, Want::last_row);
    }
  std::vector<Stepper::Part> parts;
  for (std::int64_t s = 0; s < batch; ++s)
    parts.push_back({std::size_t(s), all.subspan(std::size_t(depth), std::size_t(per_sequence))});

  stepper.restart(depth);
  const std::vector<ir::Span> spans = stepper.spans(parts);
  profile::Stamps stamps(model->program().calls().size());
  for (int r = -2; r < repeat; ++r) {  // two steps to warm up
    stop_if_interrupted("measuring");
    stepper.restart(depth);
    if (r < 0) {
      stepper.append(parts, Want::last_row);
      continue;
    }
    stamps.begin_step();
    stepper.append(parts, Want::last_row, &stamps);
    stamps.end_step();
  }
  const profile::StepTimes times = stamps.medians();

  const roof::PricedProgram priced(model->program(), model->config().step_rules(), model->memory().arena);
  const ir::Step step = priced.step(spans, batch);
  const roof::Machine machine = priced.machine_for(step, ceilings, threads);
  const std::vector<roof::Price> prices = priced.calls(step, machine);
  std::map<std::string, Row> by_role;
  std::vector<Row> each;
  Row whole{.what = "step"};
  for (std::size_t i = 0; i < prices.size(); ++i) {
    const ir::Call& c = model->program().calls()[i];
    Row& r = by_role[role(c)];
    r.what = role(c), r.kernel = model->executor().choice(i).kernel;
    r.add(prices[i], times.call_s[i]);
    each.push_back({.what = c.text(), .kernel = r.kernel});
    each.back().add(prices[i], times.call_s[i]);
    whole.add(prices[i], times.call_s[i]);
  }
  Row between{.what = "between calls", .measured = times.step_s - whole.measured};
  whole.measured = times.step_s;
  std::vector<Row> rows;
  for (auto& [key, r] : by_role) rows.push_back(r);
  rows.push_back(between);
  auto larger_loss = [](const Row& a, const Row& b) { return a.loss() > b.loss(); };
  std::sort(rows.begin(), rows.end(), larger_loss);
  std::sort(each.begin(), each.end(), larger_loss);

  const double tokens = double(per_sequence * batch);
  Report report = make_report("profile");
  report.section("", "")
      .add("model", "model", printable(model->config().name))
      .add("threads", "threads", threads, Unit::count)
      .add("tokens", "tokens of the step", std::int64_t(tokens), Unit::count)
      .add("depth", "tokens in the cache before", depth, Unit::count)
      .add("step_seconds", "step", times.step_s, Unit::seconds)
      .add("bound_seconds", "bound", whole.bound, Unit::seconds)
      .add("estimate_seconds", "estimate", whole.estimate, Unit::seconds)
      .add("fraction_of_bound", "of bound", whole.bound / times.step_s, Unit::fraction)
      .add("tokens_per_s", "rate", tokens / times.step_s, Unit::tokens_per_s)
      .add("stamp_seconds", "a stamp costs (taken off)", times.stamp_s, Unit::seconds);
  const std::vector<Column> columns{{"what", "what"},
                                    {"kernel", "kernel"},
                                    {"calls", "calls", Unit::count},
                                    {"seconds", "measured", Unit::seconds},
                                    {"share", "share", Unit::fraction},
                                    {"bound_seconds", "bound", Unit::seconds},
                                    {"estimate_seconds", "estimate", Unit::seconds},
                                    {"fraction_of_bound", "of bound", Unit::fraction},
                                    {"limiter", "limiter"},
                                    {"loss_seconds", "loss", Unit::seconds},
                                    {"bytes_per_s", "traffic", Unit::bytes_per_s},
                                    {"ops_per_s", "rate", Unit::op_per_s}};
  Table& table = report.table("roles", "largest losses first", columns);
  for (const Row& r : rows) show(table, r, times.step_s);
  whole.kernel = "";
  Table total_of{"", "", columns, {}, {}};
  show(total_of, whole, times.step_s);
  table.total = total_of.rows[0];
  if (calls || common.json) {
    Table& t = report.table("calls", "calls", columns);
    for (const Row& r : each) show(t, r, times.step_s);
  }
  print(report, common.form());
  return exit_done;
}

}  // namespace ridge::cli
