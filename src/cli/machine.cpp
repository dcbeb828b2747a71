#include "cli/machine.h"

#include "probe/probe.h"

namespace ridge::cli {

hw::Ceilings ceilings_of(const std::string& machine, int threads) {
  return machine == "this" ? probe::ensure_ceilings(threads) : hw::ceilings_of(hw::gpu_named(machine));
}

}  // namespace ridge::cli
