// ridge models: what lies in the caches, and how to get rid of it.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "base/error.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "io/cached_models.h"

namespace ridge::cli {
namespace {

int list_models(const CommonFlags& common, const io::CacheFolders& caches) {
  Report report = make_report("models");
  report.section("caches", "")
      .add("hub", "", caches.hub.string(), Unit::none, Show::json_only)
      .add("ridge", "", caches.ridge.string(), Unit::none, Show::json_only);
  Table& table = report.table("models", "",
                              {{"name", "name"},
                               {"revision", "revision"},
                               {"format", "format"},
                               {"file_count", "files", Unit::count},
                               {"bytes", "size", Unit::bytes},
                               {"cache", "", Unit::none, Show::json_only},
                               {"commit", "", Unit::none, Show::json_only},
                               {"path", "", Unit::none, Show::json_only},
                               {"files", "", Unit::none, Show::json_only}});
  bool unfinished = false;
  for (const io::CachedModel& m : io::cached_models(caches)) {
    table.row({m.name, m.revision.empty() ? Cell() : Cell(m.revision), m.format, std::int64_t(m.files.size()),
               std::int64_t(m.bytes), m.cache == io::CacheKind::hub ? "hub" : "ridge",
               m.commit.empty() ? Cell() : Cell(m.commit), m.path.string(), m.files});
    unfinished |= m.format == "unfinished";
  }
  if (table.rows.empty())
    report.note("no models in " + printable(caches.hub.string()) + " and " + printable(caches.ridge.string()) +
                "; 'ridge pull' fetches one");
  else
    table.total = {"on disk", Cell(), Cell(), Cell(), std::int64_t(io::bytes_on_disk(caches)),
                   Cell(),    Cell(), Cell(), Cell()};
  if (unfinished) report.note("'ridge pull' goes on with an unfinished download, 'ridge models remove' drops it");
  print(report, common.form());
  return exit_done;
}

bool agreed(const io::Removal& removal) {
  std::cerr << fmt::format("remove {} and free {}? [y/N] ", printable(removal.what),
                           format_bytes(double(removal.bytes)));
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

int remove_model(const std::string& name, bool yes, const CommonFlags& common, const io::CacheFolders& caches) {
  const io::Removal removal = io::plan_removal(name, caches);
  if (!yes && !isatty(STDIN_FILENO))
    fail_input("{} would be removed and free {}; --yes agrees", removal.what, format_bytes(double(removal.bytes)));
  if (!yes && !agreed(removal)) return exit_finding;
  io::remove(removal);
  Report report = make_report("models");
  report.section("", "")
      .add("removed", "removed", printable(removal.what))
      .add("freed_bytes", "freed", std::int64_t(removal.bytes), Unit::bytes);
  print(report, common.form());
  return exit_done;
}

}  // namespace

int models_verb(std::vector<std::string> arguments) {
  CLI::App app(
      "What is in the caches: that of the hub, which Python's tools share, and ridge's own. The names are what other "
      "verbs take.\n"
      "examples: ridge models\n"
      "          ridge models remove org/name --yes       NAME@REVISION and NAME:FILE remove a part",
      "models");
  const bool removes = !arguments.empty() && arguments[0] == "remove";
  if (removes) arguments.erase(arguments.begin());
  CommonFlags common;
  std::string name;
  bool yes = false;
  common.add_to(app);
  if (removes) {
    app.add_option("NAME", name, "as 'ridge models' lists it")->required();
    app.add_flag("--yes", yes, "do not ask");
  }
  if (!parse(app, std::move(arguments))) return exit_done;
  common.apply();
  const io::CacheFolders caches = io::cache_folders();
  return removes ? remove_model(name, yes, common, caches) : list_models(common, caches);
}

}  // namespace ridge::cli
