// ridge pull: a model from the hub.
#include "io/pull.h"

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "base/log.h"
#include "cli/options.h"
#include "cli/verb.h"

namespace ridge::cli {
namespace {

io::ModelName name_of(const std::string& text, const std::string& revision) {
  auto name = io::parse_model_name(text);
  if (!name)
    fail_input("{}: is not a model of the hub, which is called org/name, org/name:file or org/name:Q4_K_M", text);
  if (!revision.empty() && !name->revision.empty())
    fail_input("{} and --revision {} both name a revision", text, revision);
  if (!revision.empty() && !io::is_revision(revision))
    fail_input("--revision {}: is not the name of a branch, a tag or a commit", revision);
  if (!revision.empty()) name->revision = revision;
  return *std::move(name);
}

void say_refused(const std::vector<std::string>& files) {
  if (files.empty()) return;
  std::string names;
  for (std::size_t i = 0; i < std::min<std::size_t>(files.size(), 6); ++i) names += (i ? ", " : "") + files[i];
  if (files.size() > 6) names += fmt::format(" and {} more", files.size() - 6);
  log_info("not fetched, since they could execute code: {}", names);
}

Report report_of(const io::Pulled& p) {
  Report report = make_report("pull");
  report.section("", "")
      .add("model", "model", p.argument)
      .add("revision", "revision", p.revision)
      .add("commit", "commit", p.commit)
      .add("path", "path", p.path.string())
      .add("bytes", "size", std::int64_t(p.bytes()), Unit::bytes)
      .add("fetched_bytes", "fetched", std::int64_t(p.came()), Unit::bytes)
      .add("not_fetched", "", p.refused, Unit::none, Show::json_only);
  Table& table = report.table("files", "files",
                              {{"name", "name"},
                               {"bytes", "size", Unit::bytes},
                               {"fetched_bytes", "fetched", Unit::bytes},
                               {"hash", "", Unit::none, Show::json_only}});
  for (const io::PulledFile& f : p.files)
    table.row({printable(f.name), std::int64_t(f.bytes), std::int64_t(f.came), f.hash});
  return report;
}

}  // namespace

int pull_verb(std::vector<std::string> arguments) {
  CLI::App app(
      "Fetches a model from the Hugging Face hub, or from HF_ENDPOINT, into the cache that Python's tools share "
      "(HF_HUB_CACHE, HF_HOME):\n"
      "safetensors with configuration, tokenizer and templates, or one GGUF model. Every file is checked against its "
      "hash; an\n"
      "interrupted download goes on where it was. Nothing that could execute code is fetched. A token comes from "
      "HF_TOKEN or a file.\n"
      "examples: ridge pull Qwen/Qwen3-0.6B\n"
      "          ridge pull org/name-GGUF:Q4_K_M       by type, or by file name; then: ridge run org/name-GGUF:Q4_K_M",
      "pull");
  CommonFlags common;
  std::string text, revision;
  bool offline = false;
  int retries = 5;
  common.add_to(app);
  app.add_option("NAME", text, "org/name, org/name:file, or org/name:TYPE for a GGUF model of that type")->required();
  app.add_option("--revision", revision, "a branch, a tag or a commit; default: main");
  app.add_flag("--offline", offline, "fetch nothing: say whether it is all in the cache (HF_HUB_OFFLINE=1, too)");
  app.add_option("--retries", retries, "attempts after one that failed without getting further")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  if (!parse(app, std::move(arguments))) return exit_done;
  common.apply();

  const io::ModelName name = name_of(text, revision);
  io::PullOptions options{io::hub_access(), io::cache_folders(), retries};
  options.access.offline |= offline;
  const io::Pulled pulled = io::pull(name, options);
  if (pulled.was_interrupted) {
    log_error("{}: interrupted; what came stays, and the same command goes on from there", text);
    return exit_failed;
  }
  say_refused(pulled.refused);
  print(report_of(pulled), common.form());
  return exit_done;
}

}  // namespace ridge::cli
