#pragma once
#include "ir/op_info.h"
#include "op/simd_level.h"

namespace ridge::op {
void sampling_ref(const ir::Bound& b);
ir::CpuKernel sampling_cpu(SimdLevel level);
std::int64_t sampling_cpu_scratch(const ir::Program& p, const ir::Call& c, const ir::Target& target);
}  // namespace ridge::op
