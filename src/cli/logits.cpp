// ridge logits: for checking a model against another implementation.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/load_for_steps.h"
#include "cli/step.h"
#include "cli/verb.h"
#include "io/json_bounded.h"
#include "io/safetensors_write.h"

namespace ridge::cli {
namespace {

std::vector<std::int32_t> read_ids(const std::string& path) {
  const auto json = io::read_json(path);
  if (!json.is_array() || json.empty()) fail_input("{}: must hold a JSON array of token ids, at least one", path);
  std::vector<std::int32_t> ids;
  for (const auto& v : json) {
    if (!v.is_number_integer() || v < 0 || v > 0x7fffffff)
      fail_input("{}: element {} is {}; a token id is a whole number from 0", path, ids.size(), v.dump());
    ids.push_back(v.get<std::int32_t>());
  }
  return ids;
}

// What is read stays: neither a file of `inputs`, nor one in a folder of them.
void refuse_to_replace(const std::filesystem::path& out, std::initializer_list<std::filesystem::path> inputs) {
  if (out.empty()) fail_input("--out: a file name is needed");
  std::error_code none;
  if (!std::filesystem::exists(out, none)) return;
  const std::filesystem::path folder = out.has_parent_path() ? out.parent_path() : ".";
  for (const auto& input : inputs)
    if (std::filesystem::equivalent(out, input, none) || std::filesystem::equivalent(folder, input, none))
      fail_input("--out {}: is read by this command ({}); choose another file", out.string(), input.string());
}

}  // namespace

int logits_verb(std::vector<std::string> arguments) {
  CLI::App app(
      "Writes the logits of token ids as safetensors: `logits`, float32 (T, V), or (1, V) for the last row alone.\n"
      "example: ridge logits model.gguf --ids ids.json --out logits.safetensors --all",
      "logits");
  CommonFlags common;
  ModelFlags flags;
  std::string ids_file, out_file;
  bool all = false;
  std::int64_t step = 512;
  common.add_to(app);
  flags.add_to(app);
  app.add_option("--ids", ids_file, "a JSON array of token ids")->required();
  app.add_option("--out", out_file, "the safetensors file to write")->required();
  app.add_flag("--all", all, "every row, not only the last");
  app.add_option("--chunk", step, "most tokens of a step: the result does not depend on it")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  if (!parse(app, std::move(arguments))) return exit_done;
  common.apply();

  refuse_to_replace(out_file, {ids_file, flags.model});
  const std::vector<std::int32_t> ids = read_ids(ids_file);
  ThreadPool pool(flags.thread_count());
  if (flags.context == 0) flags.context = std::int64_t(ids.size());
  const auto model = load_for_steps(
      flags, {.longest = std::int64_t(ids.size()), .tokens = step, .rows = all ? Rows::all : Rows::last}, pool);
  Stepper sequence(*model);
  std::vector<float> values;
  for (std::size_t at = 0; at < ids.size();) {
    const std::size_t n = std::min<std::size_t>(ids.size() - at, std::size_t(step));
    sequence.append(std::span<const std::int32_t>(ids).subspan(at, n), all ? Want::all_rows : Want::last_row);
    at += n;
    if (!all && at < ids.size()) continue;
    const View rows = sequence.logits();
    values.insert(values.end(), rows.as<float>(), rows.as<float>() + rows.rows() * rows.columns());
  }
  const std::int64_t vocab = model->config().vocab, rows = std::int64_t(values.size()) / vocab;
  const io::FloatTensor tensor{"logits", {rows, vocab}, values};
  io::write_safetensors(out_file, {&tensor, 1});

  Report report = make_report("logits");
  report.section("", "")
      .add("out", "written", out_file)
      .add("rows", "rows", rows, Unit::count)
      .add("vocabulary", "vocabulary", vocab, Unit::count);
  print(report, common.form());
  return exit_done;
}

}  // namespace ridge::cli
