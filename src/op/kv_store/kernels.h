#pragma once
#include "ir/op_info.h"
#include "op/simd_level.h"

namespace ridge::op {
void kv_store_ref(const ir::Bound& b);
ir::CpuKernel kv_store_cpu(SimdLevel level);
}  // namespace ridge::op
