// ridge convert: a model in another type or file format.
#include <CLI/CLI.hpp>

#include "base/error.h"
#include "base/log.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "hw/cpu.h"
#include "quant/convert.h"

namespace ridge::cli {
namespace {

std::string type_names() {
  std::string names;
  for (DType t : quant::convertible_types()) names += (names.empty() ? "" : ", ") + std::string(name(t));
  return names;
}

DType type_of(const std::string& text) {
  const auto type = dtype_named(text);
  for (DType t : quant::convertible_types())
    if (type == t) return t;
  fail_input("--type {}: cannot be written; accepted are {}", printable(text), type_names());
}

}  // namespace

int convert_verb(std::vector<std::string> arguments) {
  CLI::App app("Writes a model anew, with its weights in another type or file format.\n"
               "Norms, biases and other vectors become F32. The head of a quantized file becomes Q6_K, unless --pure.\n"
               "examples: ridge convert model.gguf --type q8_0 --out model.q8_0.gguf\n"
               "          ridge convert model.gguf --type f16 --out model.safetensors", "convert");
  CommonFlags common;
  std::string model, type, out;
  bool pure = false;
  int threads = 0;
  common.add_to(app);
  app.add_option("MODEL", model, "a model: a GGUF file, or a Hugging Face folder")->required();
  app.add_option("--out", out, "the file to write; its ending says the format: .gguf or .safetensors")->required();
  app.add_option("--type", type, "of the matrices: " + type_names())->required();
  app.add_flag("--pure", pure, "the head, too, gets the type asked for");
  app.add_option("--threads", threads, "how many (default: what this machine gives)")->check(CLI::Range(1, max_threads));
  if (!parse(app, std::move(arguments))) return exit_done;
  common.apply();

  const quant::ConvertOptions options{.type = type_of(type), .head = pure ? quant::HeadType::same : quant::HeadType::finer};
  ThreadPool pool(threads > 0 ? threads : hw::default_threads());
  const io::ModelFiles files = io::ModelFiles::open(model);
  const quant::Converted done = quant::convert(files, out, options, pool);
  for (const std::string& line : done.fallbacks) log_warning("{}", line);
  Report report = make_report("convert");
  report.section("", "")
      .add("file", "file", printable(out))
      .add("type", "type", name(options.type))
      .add("tensors", "tensors", done.tensors, Unit::count)
      .add("source_bytes", "weights before", done.source_bytes, Unit::bytes)
      .add("bytes", "weights now", done.bytes, Unit::bytes)
      .add("fallbacks", "tensors of another type", std::int64_t(done.fallbacks.size()), Unit::count);
  print(report, common.form());
  return exit_done;
}

}  // namespace ridge::cli
