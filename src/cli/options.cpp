#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "hw/cpu.h"
#include "io/find_model.h"
#include "model/shapes.h"
#if RIDGE_CUDA
#include "cuda/device.h"
#endif

namespace ridge::cli {

bool parse(CLI::App& app, std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());  // CLI11 wants them so
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help("ridge"));  // the usage line starts with what is typed
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

// "" or why the text names no device.
static std::string check_device(const std::string& text) {
  if (text == "auto" || text == "cpu" || text == "ref" || text == "cuda") return "";
  const bool number = text.starts_with("cuda:") && text.size() > 5 && text.size() < 8 &&
                      text.find_first_not_of("0123456789", 5) == std::string::npos;
  return number ? "" : text + " is no device; accepted: auto, cpu, cuda, cuda:N, ref";
}

// The name of GPU 0, or "" where there is none that this binary can use.
static std::string usable_gpu() {
#if RIDGE_CUDA
  const cuda::Devices found = cuda::devices();
  if (found.list.empty()) return "";
  try {
    return cuda::select(0).name;
  } catch (const Error& e) {
    log_warning("{}; running on the processor", e.what());
  }
#endif
  return "";
}

void ModelFlags::add_to(CLI::App& app, ModelArgument argument) {
  app.add_option("MODEL", model, model_help)->required(argument == ModelArgument::required);
  app.add_option("--device", device,
                 "cpu; cuda or cuda:N: a GPU; ref: the plain reference kernels; auto: a GPU where there is one that "
                 "ridge holds code for")
      ->check(CLI::Validator(check_device, "DEVICE"))
      ->capture_default_str();
  app.add_flag("--no-graphs", no_graphs, "on a GPU: launch every kernel by itself");
  app.add_flag("--no-pdl", no_pdl, "on a GPU: no kernel starts before the one before it has ended");
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

void ModelFlags::add_shape_to(CLI::App& app) {
  app.add_option("--shape", shape,
                 "a named shape with random weights instead of MODEL ('ridge explain --help' lists them)");
  app.add_option("--type", type, "of its matrices: BF16, F16, F32, F8_E4M3, Q8_0, Q4_0, Q4_K, ...");
}

model::Description ModelFlags::open() const {
  if (model.empty() == shape.empty()) fail_input("name a MODEL, or a --shape to be run with random weights");
  if (shape.empty()) return model::open(io::find_model(model));
  const std::optional<DType> dtype = dtype_named(type.empty() ? "BF16" : type);
  if (!dtype) fail_input("--type {}: no such type", type);
  model::Description d = model::named_shape(shape, *dtype);
  d.random = std::make_shared<model::RandomWeights>();
  return d;
}

int ModelFlags::thread_count() const { return threads > 0 ? threads : hw::default_threads(); }

model::LoadOptions ModelFlags::load_options(const model::Config& config, std::int64_t longest) const {
  model::LoadOptions o;
  o.device = device == "ref" ? ir::Device::ref : device.starts_with("cuda") ? ir::Device::cuda : ir::Device::cpu;
  if (device.starts_with("cuda:")) o.gpu = std::stoi(device.substr(5));
  if (device == "auto") {
    if (const std::string gpu = usable_gpu(); !gpu.empty()) {
      o.device = ir::Device::cuda;
      static bool said = false;
      if (!std::exchange(said, true)) log_info("device cuda:0, {} (--device cpu runs on the processor)", gpu);
    }
  }
  o.graphs = !no_graphs, o.dependent_launch = !no_pdl;
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
