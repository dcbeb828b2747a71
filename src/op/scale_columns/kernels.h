#pragma once
#include "ir/op_info.h"
#include "op/simd_level.h"

namespace ridge::op {
void scale_columns_ref(const ir::Bound& b);
ir::CpuKernel scale_columns_cpu(SimdLevel level);
}  // namespace ridge::op
