#pragma once
#include "ir/op_info.h"
#include "op/simd_level.h"

namespace ridge::op {
void add_ref(const ir::Bound& b);
ir::CpuKernel add_cpu(SimdLevel level);
}  // namespace ridge::op
