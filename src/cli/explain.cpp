// ridge explain: the priced program, without running it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "base/error.h"
#include "cli/machine.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "engine/kv_pool.h"
#include "io/find_model.h"
#include "model/shapes.h"
#include "program/memory_plan.h"
#include "roof/priced_program.h"

namespace ridge::cli {
namespace {

struct Work {  // what the step does
  std::int64_t batch = 1, context = 512, prefill = 0;

  std::vector<ir::Span> spans() const {  // decoding sequences with `context` keys each, and one prompt
    std::vector<ir::Span> list(std::size_t(batch), {1, context - 1});
    if (prefill > 0) list.push_back({prefill, 0});
    return list;
  }
  Sizes sizes() const { return {batch + prefill, batch + (prefill > 0), batch + (prefill > 0)}; }
};

// "layer 3 / attention / attn_q" -> "attention / attn_q": calls of all layers together.
std::string role(const ir::Call& c) { return c.where.part.empty() ? std::string(c.op->name) : c.where.part; }

void fill_prices(Table& table, const std::string& label, const roof::Price& p, std::int64_t calls) {
  table.row({label, calls, p.flops, p.memory_bytes, p.activation_bytes, p.intensity(), p.bound,
             std::string(name(p.limiter)), p.estimate});
}

std::vector<Column> price_columns(std::string key, std::string title) {
  return {{std::move(key), std::move(title)},
          {"calls", "calls", Unit::count},
          {"flops", "work", Unit::flop},
          {"memory_bytes", "weights+KV", Unit::bytes},
          {"activation_bytes", "activations", Unit::bytes},
          {"intensity", "FLOP/byte"},
          {"bound_s", "bound", Unit::seconds},
          {"limiter", "limiter"},
          {"estimate_s", "estimate", Unit::seconds}};
}

void show_passes(Report& report, const std::vector<program::PassRecord>& passes) {
  Table& t = report.table("passes", "passes",
                          {{"pass", "pass"},
                           {"what", "what it does"},
                           {"calls_before", "calls before", Unit::count},
                           {"calls_after", "after", Unit::count},
                           {"seconds", "took", Unit::seconds},
                           {"skipped", "skipped"}});
  for (const auto& p : passes)
    t.row({p.name, p.what, std::int64_t(p.calls_before), std::int64_t(p.calls_after), p.seconds, p.skipped});
}

void show_kernels(Report& report, const ir::Program& program, const ir::Target& target) {
  Table& t = report.table(
      "kernels", "kernels",
      {{"call", "call", Unit::count}, {"op", "op"}, {"where", "where"}, {"kernel", "kernel"}, {"reason", "why"}});
  for (const ir::Call& c : program.calls()) {
    const ir::KernelChoice k = c.op->choose(program, c, target);
    t.row({c.id, c.op->name, c.where.text(), k.kernel, k.reason});
  }
}

}  // namespace

int explain_verb(std::vector<std::string> arguments) {
  CLI::App app(
      "Prices the program of one step: FLOPs, bytes, bound and limiter of every call, on this machine or on a named "
      "GPU.\n"
      "The step: --batch sequences that decode at --context, and a prompt of --prefill tokens.\n"
      "examples: ridge explain model.gguf --context 1024\n"
      "          ridge explain --shape llama-3.1-8b --on h200 --batch 16 --context 1024\n"
      "          ridge explain model.gguf --prefill 512 --batch 0 --kernels",
      "explain");
  CommonFlags common;
  ModelFlags flags;
  Work work;
  std::string shape, on = "this", type = "bf16";
  bool kernels = false, calls = false, text = false;
  common.add_to(app);
  flags.add_to(app, ModelArgument::optional);
  app.add_option("--shape", shape, "a named shape instead of a file");
  app.add_option("--type", type, "weights of a named shape: bf16, q4_k, ...")->capture_default_str();
  app.add_option("--on", on, "this machine, or a GPU by name: h200, a100, rtx 4090, ...")->capture_default_str();
  app.add_option("--batch", work.batch, "sequences that decode")->check(CLI::Range(0, 1 << 20))->capture_default_str();
  app.add_option("--prefill", work.prefill, "tokens of a prompt in the same step")
      ->check(CLI::Range(0, 1 << 24))
      ->capture_default_str();
  app.add_flag("--kernels", kernels, "which kernel each call gets, and why");
  app.add_flag("--calls", calls, "every call, not only sums by role");
  app.add_flag("--program", text, "the program before and after the passes");
  if (!parse(app, std::move(arguments))) return exit_done;
  common.apply();
  if (flags.model.empty() == shape.empty()) fail_input("name either a model or a --shape");
  if (work.batch + work.prefill == 0) fail_input("--batch 0 and --prefill 0: a step without tokens");
  const auto dtype = dtype_named(type);
  if (!dtype || !info(*dtype).decode) fail_input("--type '{}' is no type of weights", type);

  const model::Description d =
      shape.empty() ? model::open(io::find_model(flags.model)) : model::named_shape(shape, *dtype);
  if (flags.context > 0) work.context = flags.context;
  const std::int64_t longest = std::max(work.batch > 0 ? work.context : 1, work.prefill);
  if (longest > d.config.context)
    fail_input("{} tokens are more than the {} that the model was made for", longest, d.config.context);
  const std::int64_t page = engine::default_block_tokens, per_sequence = (longest + page - 1) / page;
  model::LoadOptions o = flags.load_options(d.config, longest);
  model::Recorded r = model::record(d, {.kv_blocks = per_sequence * work.sizes().sequences,
                                        .kv_block_size = page,
                                        .blocks_per_sequence = per_sequence,
                                        .kv_dtype = o.kv_dtype.value_or(model::default_kv_dtype(d, o)),
                                        .context = longest});
  const int threads = flags.thread_count();
  const ir::Target target{.device = o.device,
                          .activations = o.activations.value_or(ir::Activations::int8),
                          .isa = hw::isa(),
                          .threads = threads,
                          .most = work.sizes()};
  const std::string before = r.program.text();
  const auto passes = program::run_passes(r.program, target, flags.skip_passes);

  const hw::Ceilings ceilings = ceilings_of(on, threads);
  const roof::PricedProgram priced(r.program, d.config.step_rules(),
                                   program::plan_memory(r.program, work.sizes(), 0).arena_bytes);
  const ir::Step step = priced.step(work.spans(), work.sizes().rows);
  const roof::Machine machine = priced.machine_for(step, ceilings, threads);
  const std::vector<roof::Price> prices = priced.calls(step, machine);

  roof::Total total;
  std::vector<std::string> order;
  std::map<std::string, std::pair<roof::Total, std::int64_t>> by_role;
  for (std::size_t i = 0; i < prices.size(); ++i) {
    const std::string key = role(r.program.calls()[i]);
    total.add(prices[i]);
    if (!by_role.contains(key)) order.push_back(key);
    auto& [sum, count] = by_role[key];
    sum.add(prices[i]);
    ++count;
  }
  const roof::Price all = total.sum();
  const double tokens = double(work.batch + work.prefill);

  Report report = make_report("explain");
  report.section("", "")
      .add("model", "model", d.config.name)
      .add("on", "on", ceilings.device + (ceilings.source == hw::Source::datasheet ? " (datasheet)" : " (measured)"))
      .add("threads", "threads", threads, Unit::count)
      .add("batch", "decoding sequences", work.batch, Unit::count)
      .add("context", "context of each", work.context, Unit::count)
      .add("prefill", "prompt tokens", work.prefill, Unit::count)
      .add("read_bytes_per_s", "read ceiling", machine.read, Unit::bytes_per_s)
      .add("bound_s", "bound of the step", all.bound, Unit::seconds)
      .add("estimate_s", "estimate", all.estimate, Unit::seconds)
      .add("estimate_low_s", "between", all.low, Unit::seconds)
      .add("estimate_high_s", "and", all.high, Unit::seconds)
      .add("bound_tokens_per_s", "bound", tokens / all.bound, Unit::tokens_per_s)
      .add("estimate_tokens_per_s", "estimate", tokens / all.estimate, Unit::tokens_per_s);
  Table& roles = report.table("roles", "by role", price_columns("role", "role"));
  for (const std::string& key : order) fill_prices(roles, key, by_role[key].first.sum(), by_role[key].second);
  roles.total = std::vector<Cell>{"step",
                                  std::int64_t(r.program.calls().size()),
                                  all.flops,
                                  all.memory_bytes,
                                  all.activation_bytes,
                                  all.intensity(),
                                  all.bound,
                                  std::string(name(all.limiter)),
                                  all.estimate};
  if (calls || common.json) {
    std::vector<Column> columns = price_columns("where", "where");
    columns[1] = {"call", "call", Unit::count};
    Table& each = report.table("calls", "calls", std::move(columns));
    for (std::size_t i = 0; i < prices.size(); ++i) {
      const ir::Call& c = r.program.calls()[i];
      fill_prices(each, fmt::format("{} {}", c.op->name, c.where.text()), prices[i], c.id);
    }
  }
  show_passes(report, passes);
  if (kernels) show_kernels(report, r.program, target);
  if (text)
    report.section("program", "")
        .add("before", "", before, Unit::none, Show::json_only)
        .add("after", "", r.program.text(), Unit::none, Show::json_only);
  print(report, common.form());
  if (text && !common.json) fmt::print("\nbefore the passes\n{}\nafter\n{}", before, r.program.text());
  return exit_done;
}

}  // namespace ridge::cli
