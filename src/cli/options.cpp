#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "hw/cpu.h"

namespace ridge::cli {

bool parse(CLI::App& app, std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());  // CLI11 wants them so
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return false;
  } catch (const CLI::ParseError& e) {
    fail_input("{}; see 'ridge {} --help'", e.what(), app.get_name());
  }
  return true;
}

void CommonFlags::add_to(CLI::App& app) {
  app.add_flag("--json", json, "print JSON (with schema_version and the environment) instead of text");
  app.add_flag("--verbose", verbose, "log more");
  app.add_flag("--quiet", quiet, "log errors only, no progress");
  app.add_option("--forbid", forbid,
                 "instruction sets that kernels may not use: avx2, avx512, vnni, ... (RIDGE_FORBID, too)")
      ->delimiter(',');
}

void CommonFlags::apply() const {
  if (verbose && quiet) fail_input("--verbose and --quiet exclude each other");
  if (verbose) set_log_level(LogLevel::debug);
  if (quiet) set_log_level(LogLevel::error);
  hw::isa();  // reads RIDGE_FORBID, and tells Highway, before any kernel runs
  for (const std::string& name : forbid) hw::forbid(name);
}

Report make_report(std::string verb) {
  Report report(std::move(verb));
  report.environment = hw::environment();
  return report;
}

void ModelFlags::add_to(CLI::App& app, ModelArgument argument) {
  app.add_option("MODEL", model, "a model: a GGUF file, or a Hugging Face folder")
      ->required(argument == ModelArgument::required);
  app.add_option("--device", device, "cpu, or ref: the plain reference kernels")
      ->check(CLI::IsMember({"cpu", "ref"}))
      ->capture_default_str();
  app.add_option("--activations", activations,
                 "what quantized weights are multiplied with: int8 blocks, or f32 (exact, slower)")
      ->check(CLI::IsMember({"auto", "int8", "f32"}))
      ->capture_default_str();
  app.add_option("--kv", kv, "type of the KV cache")
      ->check(CLI::IsMember({"auto", "f16", "f32"}))
      ->capture_default_str();
  app.add_option("--threads", threads, "threads; default: what affinity and quota allow")
      ->check(CLI::Range(1, max_threads));
  app.add_option("--context", context, "the longest sequence, in tokens; default: the model's own, up to 4096")
      ->check(CLI::Range(std::int64_t(1), std::int64_t(1) << 30));
  app.add_option("--skip-pass", skip_passes, "leave out a pass over the program (explain lists them)")->delimiter(',');
}

int ModelFlags::thread_count() const { return threads > 0 ? threads : hw::default_threads(); }

model::LoadOptions ModelFlags::load_options(const model::Config& config, std::int64_t longest) const {
  model::LoadOptions o;
  o.device = device == "ref" ? ir::Device::ref : ir::Device::cpu;
  if (activations == "int8") o.activations = ir::Activations::int8;
  if (activations == "f32") o.activations = ir::Activations::f32;
  if (kv == "f16") o.kv_dtype = DType::f16;
  if (kv == "f32") o.kv_dtype = DType::f32;
  if (context > config.context)
    fail_input("--context {} is longer than the {} tokens that the model was made for", context, config.context);
  o.context = context > 0 ? context : std::min(config.context, longest);
  o.skip_passes = skip_passes;
  return o;
}

}  // namespace ridge::cli
