#include "cli/machine.h"

#include "probe/probe.h"
#if RIDGE_CUDA
#include "cuda/device.h"
#endif

namespace ridge::cli {

hw::Ceilings ceilings_of(const std::string& machine, int threads) {
  return machine == "this" ? probe::ensure_ceilings(threads) : hw::ceilings_of(hw::gpu_named(machine));
}

hw::Ceilings ceilings_of(const model::LoadOptions& options, int threads) {
#if RIDGE_CUDA
  if (options.device == ir::Device::cuda) return hw::ceilings_of(hw::gpu_named(cuda::select(options.gpu).name));
#endif
  (void)options;
  return ceilings_of("this", threads);
}

}  // namespace ridge::cli
