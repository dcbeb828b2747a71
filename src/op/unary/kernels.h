#pragma once
#include "ir/op_info.h"
#include "op/simd_level.h"

namespace ridge::op {
void unary_ref(const ir::Bound& b);
ir::CpuKernel unary_cpu(SimdLevel level);
}  // namespace ridge::op
