// ridge probe: what this machine can do at most, measured, or what a datasheet says of a named GPU.
#include "probe/probe.h"

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "base/log.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "hw/cpu.h"

namespace ridge::cli {
namespace {

hw::Ceilings measured_and_kept(int threads, hw::Thoroughness thoroughness, const std::filesystem::path& file) {
  const hw::Ceilings ceilings = probe::measure_ceilings(threads, thoroughness);
  hw::save_ceilings(file, ceilings);
  log_info("written to {}", file.string());
  return ceilings;
}

hw::Ceilings kept(const std::filesystem::path& file) {
  if (auto known = hw::load_ceilings(file, hw::machine_key())) return *known;
  fail_input("{} holds no ceilings of this machine with these instruction sets; `ridge probe` measures them",
             file.string());
}

}  // namespace

int probe_verb(std::vector<std::string> arguments) {
  CLI::App app(
      "What this machine can do at most: facts of the processor; read, write and copy bandwidth by working set and "
      "threads;\n"
      "multiply rates by type; the cost of handing work to threads; and what that means for a model. The result goes "
      "to\n"
      "ceilings.json ($RIDGE_CEILINGS, or ridge/ in $XDG_CACHE_HOME or ~/.cache), which every other verb reads.\n"
      "examples: ridge probe     ridge probe --quick --json     ridge probe --show     ridge probe --on h200",
      "probe");
  CommonFlags common;
  bool quick = false, show = false;
  int threads = 0;
  std::string gpu, file;
  common.add_to(app);
  auto* quick_flag = app.add_flag("--quick", quick, "2 seconds instead of 30, fewer points");
  auto* show_flag = app.add_flag("--show", show, "print what is kept, measure nothing");
  app.add_option("--threads", threads, "most threads to measure with (default: one for each core that is granted)")
      ->check(CLI::Range(1, max_threads));
  app.add_option("--on", gpu, "a GPU of the table of datasheets instead of this machine")
      ->excludes(quick_flag)
      ->excludes(show_flag);
  app.add_option("--file", file, "the ceilings file to use");
  if (!parse(app, std::move(arguments))) return exit_done;
  common.apply();

  if (!gpu.empty()) {
    print(probe::report_of(hw::gpu_named(gpu)), common.form());
    return exit_done;
  }
  const std::filesystem::path path = file.empty() ? hw::ceilings_path() : std::filesystem::path(file);
  if (threads == 0) threads = hw::default_threads();
  const auto thoroughness = quick ? hw::Thoroughness::quick : hw::Thoroughness::full;
  print(probe::report_of(show ? kept(path) : measured_and_kept(threads, thoroughness, path)), common.form());
  return exit_done;
}

}  // namespace ridge::cli
