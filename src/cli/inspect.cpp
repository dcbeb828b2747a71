// ridge inspect: what is in a model's files, whether ridge can run it and if not why, and the memory it would need.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "base/error.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "engine/kv_pool.h"
#include "io/find_model.h"
#include "io/model_files.h"
#include "program/memory_plan.h"

namespace ridge::cli {
namespace {

void show_metadata(Report& report, const io::ModelFiles& files) {
  if (!files.gguf()) return;
  Table& table = report.table("metadata", "metadata", {{"key", "key"}, {"value", "value"}});
  for (const io::GgufValue& v : files.gguf()->all()) table.row({printable(v.key), printable(io::text_of(v))});
}

void show_types(Report& report, const io::ModelFiles& files) {
  struct Sum {
    std::int64_t tensors = 0, elements = 0, bytes = 0;
  };
  std::map<std::string, Sum> sums;
  for (const io::TensorEntry& t : files.tensors) {
    std::int64_t elements = 1;
    for (std::int64_t n : t.shape) elements *= n;
    Sum& s = sums[t.type];
    ++s.tensors, s.elements += elements, s.bytes += std::int64_t(t.bytes.value_or(0));
  }
  Table& table = report.table("types", "tensor types",
                              {{"type", "type"},
                               {"tensors", "tensors", Unit::count},
                               {"parameters", "parameters", Unit::count},
                               {"bytes", "size", Unit::bytes},
                               {"bits_per_parameter", "bits each"}});
  for (const auto& [type, s] : sums)
    table.row({type, s.tensors, s.elements, s.bytes, s.elements ? 8.0 * double(s.bytes) / double(s.elements) : 0.0});
}

void show_tensors(Report& report, const io::ModelFiles& files, Show show) {
  Table& table = report.table("tensors", "tensors",
                              {{"name", "name"},
                               {"type", "type", Unit::none},
                               {"shape", "shape"},
                               {"bytes", "size", Unit::bytes},
                               {"file", "file", Unit::none, Show::json_only},
                               {"offset", "offset", Unit::none, Show::json_only}});
  if (show == Show::json_only) table.title.clear();
  for (const io::TensorEntry& t : files.tensors) {
    std::string shape;
    for (std::int64_t n : t.shape) shape += (shape.empty() ? "" : " x ") + std::to_string(n);
    table.row({printable(t.name), t.type, shape, t.bytes ? Cell(std::int64_t(*t.bytes)) : Cell(),
               files.file_names[t.file], std::int64_t(t.offset)});
  }
}

// What the memory plan asks for, for `batch` sequences of `context` tokens in steps of at most 512 tokens.
void show_memory(Report& report, const model::Description& d, const ModelFlags& flags, std::int64_t batch) {
  model::LoadOptions o = flags.load_options(d.config, 4096);
  const std::int64_t page = engine::default_block_tokens, per_sequence = (o.context + page - 1) / page;
  model::Recorded r = model::record(d, {.kv_blocks = per_sequence * batch,
                                        .kv_block_size = page,
                                        .blocks_per_sequence = per_sequence,
                                        .kv_dtype = o.kv_dtype.value_or(model::default_kv_dtype(d, o)),
                                        .context = o.context});
  const Sizes most{std::max<std::int64_t>(batch, std::min<std::int64_t>(512, o.context * batch)), batch, batch};
  ir::Target target{.device = ir::Device::cpu,
                    .activations = o.activations.value_or(ir::Activations::int8),
                    .isa = hw::isa(),
                    .threads = flags.thread_count(),
                    .most = most};
  program::run_passes(r.program, target, flags.skip_passes);
  std::int64_t scratch = 0;
  for (const ir::Call& c : r.program.calls())
    scratch = std::max(scratch, c.op->choose(r.program, c, target).scratch_bytes);
  const program::MemoryPlan plan = program::plan_memory(r.program, most, scratch);
  const std::int64_t weights = program::weight_bytes(r.program, target, model::weight_sources(r));
  const std::int64_t work = plan.arena_bytes + plan.input_bytes + plan.scratch_bytes;
  report.section("memory", "memory to run it")
      .add("context", "context", o.context, Unit::count)
      .add("batch", "sequences", batch, Unit::count)
      .add("weights_bytes", "weights", weights, Unit::bytes)
      .add("kv_bytes", "KV cache", plan.state_bytes, Unit::bytes)
      .add("work_bytes", "activations and scratch", work, Unit::bytes)
      .add("total_bytes", "together", weights + plan.state_bytes + work, Unit::bytes);
}

void show_config(Report& report, const model::Config& c) {
  report.section("config", "configuration")
      .add("architecture", "architecture", c.architecture)
      .add("layers", "layers", c.layers, Unit::count)
      .add("hidden", "hidden", c.hidden, Unit::count)
      .add("heads", "heads", c.heads, Unit::count)
      .add("kv_heads", "kv heads", c.kv_heads, Unit::count)
      .add("head_dim", "head dimension", c.head_dim, Unit::count)
      .add("ffn", "feed-forward", c.ffn, Unit::count)
      .add("vocab", "vocabulary", c.vocab, Unit::count)
      .add("context", "trained context", c.context, Unit::count);
}

}  // namespace

int inspect_verb(std::vector<std::string> arguments) {
  CLI::App app(
      "What is in a model's files: metadata, tensors, types, sizes, and the memory needed at a context length and "
      "batch.\n"
      "A file that ridge cannot run is shown, too, with the reason.\n"
      "examples: ridge inspect model.gguf --context 8192 --batch 4     ridge inspect model.gguf --tensors",
      "inspect");
  CommonFlags common;
  ModelFlags flags;
  std::int64_t batch = 1;
  bool tensors = false;
  common.add_to(app);
  flags.add_to(app);
  app.add_option("--batch", batch, "sequences at once")->check(CLI::Range(1, 65536))->capture_default_str();
  app.add_flag("--tensors", tensors, "list every tensor (JSON always does)");
  if (!parse(app, std::move(arguments))) return exit_done;
  common.apply();

  const std::filesystem::path path = io::find_model(flags.model);
  const io::ModelFiles files = io::ModelFiles::open(path);
  Report report = make_report("inspect");
  std::string why_not;
  std::optional<model::Description> description;
  try {
    description = model::open(path);
    model::record(
        *description,
        {.kv_blocks = 1, .kv_block_size = engine::default_block_tokens, .blocks_per_sequence = 1, .context = 1});
  } catch (const Error& e) {
    if (e.fault() == Fault::bug) throw;
    why_not = e.what();
  }
  report.section("", "")
      .add("file", "file", printable(path.string()))
      .add("format", "format", name(files.kind))
      .add("file_bytes", "size", std::int64_t(files.file_bytes()), Unit::bytes)
      .add("tensor_count", "tensors", std::int64_t(files.tensors.size()), Unit::count)
      .add("runs", "ridge runs it", why_not.empty() ? "yes" : "no: " + printable(why_not), Unit::none, Show::text_only)
      .add("supported", "", why_not.empty(), Unit::none, Show::json_only)
      .add("reason", "", why_not.empty() ? Cell() : Cell(printable(why_not)), Unit::none, Show::json_only);
  if (description) show_config(report, description->config);
  show_metadata(report, files);
  show_types(report, files);
  if (tensors || common.json) show_tensors(report, files, Show::both);
  if (why_not.empty()) show_memory(report, *description, flags, batch);
  print(report, common.form());
  return exit_done;
}

}  // namespace ridge::cli
