// ridge support: which kernel runs which types, on each device.
#include "op/support.h"

#include <CLI/CLI.hpp>

#include "cli/options.h"
#include "cli/verb.h"

namespace ridge::cli {

int support_verb(std::vector<std::string> arguments) {
  CLI::App app("Which op runs on which types, by which kernel, on each device.\nexample: ridge support --forbid avx512",
               "support");
  CommonFlags common;
  common.add_to(app);
  if (!parse(app, std::move(arguments))) return exit_done;
  common.apply();
  const std::vector<ir::Target> targets{{.device = ir::Device::cpu, .isa = hw::isa(), .threads = 1},
                                        {.device = ir::Device::ref, .isa = hw::isa(), .threads = 1}};
  Report report = make_report("support");
  Table& table = report.table("support", "", {{"op", "op"}, {"types", "types"}, {"cpu", "cpu"}, {"ref", "ref"}});
  for (const op::SupportRow& row : op::support(targets)) {
    std::vector<Cell> cells{row.op, row.types};
    for (const auto& [device, kernel] : row.kernels) cells.push_back(kernel);
    table.row(std::move(cells));
  }
  print(report, common.form());
  return exit_done;
}

}  // namespace ridge::cli
