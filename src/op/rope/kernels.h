#pragma once
#include "ir/op_info.h"
#include "op/simd_level.h"

namespace ridge::op {
void rope_angles_ref(const ir::Bound& b);
ir::CpuKernel rope_angles_cpu(SimdLevel level);
void rope_ref(const ir::Bound& b);
ir::CpuKernel rope_cpu(SimdLevel level);
}  // namespace ridge::op
