// ridge convert: a model in another type or file format, or random weights of a named shape.
#include "quant/convert.h"

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "base/log.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "hw/cpu.h"
#include "io/find_model.h"
#include "model/shapes.h"

namespace ridge::cli {
namespace {

constexpr std::string_view as_stored = "same";

std::string type_names() {
  std::string names;
  for (DType t : quant::convertible_types()) names += (names.empty() ? "" : ", ") + std::string(name(t));
  return names;
}

std::optional<DType> type_of(const std::string& flag, const std::string& text) {
  if (text == as_stored) return std::nullopt;
  const auto type = dtype_named(text);
  for (DType t : quant::convertible_types())
    if (type == t) return t;
  fail_input("{} {}: cannot be written; accepted are {}, and {}", flag, printable(text), type_names(), as_stored);
}

quant::TypeRule rule_of(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals == text.npos || equals == 0)
    fail_input("--tensor {}: is not PATTERN=TYPE, as in '*ffn_down*=Q6_K'", printable(text));
  return {text.substr(0, equals), type_of("--tensor", text.substr(equals + 1))};
}

struct Flags {
  std::string model, type = std::string(as_stored), out, shape;
  std::vector<std::string> rules;
  bool pure = false, force = false, no_tokenizer = false, random = false;
  std::uint64_t seed = 1;
  int threads = 0;

  void add_to(CLI::App& app) {
    app.add_option("MODEL", model, model_help);
    app.add_option("--out", out, "what to write: a file that ends in .gguf or .safetensors, or a new folder")
        ->required();
    app.add_option("--type", type,
                   "of the matrices: " + type_names() + ", or same: as they are stored (random ones: BF16)")
        ->capture_default_str();
    app.add_option("--tensor", rules,
                   "PATTERN=TYPE: of matrices whose GGUF names match ('*': any text); the last counts")
        ->expected(1)
        ->take_all();
    app.add_flag("--pure", pure, "the head, too, gets the type asked for");
    app.add_flag("--no-tokenizer", no_tokenizer, "leave a folder's tokenizer out of the GGUF file");
    app.add_flag("--force", force, "replace a file that is there");
    app.add_flag("--random", random, "random weights of --shape, instead of a model");
    app.add_option("--shape", shape, "a named shape (llama-3.2-1b, ...; a wrong name lists them), or a config.json");
    app.add_option("--seed", seed, "of random weights: the same seed gives the same file")->capture_default_str();
    app.add_option("--threads", threads, "threads; default: what affinity and quota allow")
        ->check(CLI::Range(1, max_threads));
  }
  void check() const {
    if (random && (!model.empty() || shape.empty())) fail_input("--random goes with --shape, and without a model");
    if (!random && !shape.empty()) fail_input("--shape goes with --random");
    if (!random && model.empty()) fail_input("MODEL is required; see 'ridge convert --help'");
  }
  quant::ConvertOptions options() const {
    quant::ConvertOptions o;
    o.type = type_of("--type", type);
    if (random && !o.type) o.type = DType::bf16;
    o.head = pure ? quant::HeadType::same : quant::HeadType::finer;
    for (const std::string& text : rules) o.rules.push_back(rule_of(text));
    o.overwrite = force ? quant::Overwrite::replace : quant::Overwrite::refuse;
    o.tokenizer = no_tokenizer ? quant::WithTokenizer::no : quant::WithTokenizer::yes;
    return o;
  }
};

}  // namespace

int convert_verb(std::vector<std::string> arguments) {
  CLI::App app(
      "Writes a model anew, with its weights in another type or file format. What has its type is copied.\n"
      "In GGUF, norms, biases and other vectors become F32, and the head of a quantized file Q6_K, unless --pure.\n"
      "examples: ridge convert model.gguf --type q8_0 --out model.q8_0.gguf\n"
      "          ridge convert folder --type q4_k --tensor '*ffn_down*=q6_k' --out model.gguf\n"
      "          ridge convert folder --type bf16 --out folder.bf16\n"
      "          ridge convert --random --shape llama-3.2-1b --type bf16 --out random.gguf",
      "convert");
  CommonFlags common;
  Flags flags;
  common.add_to(app);
  flags.add_to(app);
  if (!parse(app, std::move(arguments))) return exit_done;
  common.apply();
  flags.check();

  const quant::ConvertOptions options = flags.options();
  ThreadPool pool(flags.threads > 0 ? flags.threads : hw::default_threads());
  const quant::Converted done =
      flags.random
          ? quant::write_random(model::shape_or_config(flags.shape, DType::f32), flags.out, options, flags.seed, pool)
          : quant::convert(io::ModelFiles::open(io::find_model(flags.model)), flags.out, options, pool);
  for (const std::string& line : done.notes) log_warning("{}", line);
  if (done.interrupted) {
    log_error("interrupted: {} was not written", printable(flags.out));
    return exit_failed;
  }
  Report report = make_report("convert");
  report.section("", "")
      .add("file", "file", printable(flags.out))
      .add("type", "type", options.type ? Cell(name(*options.type)) : Cell("as stored"))
      .add("tensors", "tensors", done.tensors, Unit::count)
      .add("copied", "copied unchanged", done.copied, Unit::count)
      .add("source_bytes", "weights before", done.source_bytes, Unit::bytes)
      .add("bytes", "weights now", done.bytes, Unit::bytes)
      .add("notes", "notes", done.notes, Unit::none, Show::json_only);
  print(report, common.form());
  return exit_done;
}

}  // namespace ridge::cli
