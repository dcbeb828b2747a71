#include "cli/machine.h"

#include "base/error.h"

namespace ridge::cli {

hw::Ceilings ceilings_of(const std::string& machine, int) {
  if (machine == "this") {
    if (auto found = hw::load_ceilings(hw::ceilings_path(), hw::machine_key())) return *found;
    fail_machine("its ceilings are not known yet; run 'ridge probe'");
  }
  return hw::ceilings_of(hw::gpu_named(machine));
}

}  // namespace ridge::cli
