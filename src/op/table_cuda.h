// Which kernel a call gets on a GPU. In builds with CUDA only.
#pragma once
#include "ir/op_info.h"

namespace ridge::op {

// Throws Fault::machine, naming the op, where it has no kernel for GPUs.
ir::KernelChoice choose_cuda(const ir::Program& p, const ir::Call& c, const ir::Target& target);

}  // namespace ridge::op
