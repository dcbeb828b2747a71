#pragma once
#include "ir/op_info.h"
#include "op/simd_level.h"

namespace ridge::op {
void silu_gate_ref(const ir::Bound& b);
ir::CpuKernel silu_gate_cpu(SimdLevel level);
}  // namespace ridge::op
