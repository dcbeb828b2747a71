// The plain GPU kernels that a fused call is made of, and its own.
#pragma once
#include "ir/op_info.h"

namespace ridge::op {

void rms_norm_cuda(const ir::CudaBound&);
void silu_gate_cuda(const ir::CudaBound&);

struct FusedKernels {
  ir::CudaKernel parts;  // one after the other
  ir::CudaKernel one;    // in one launch where x is small enough, else the parts
};
FusedKernels fused_linear_kernels(bool exact);  // exact: as LinearPlan::exact

}  // namespace ridge::op
