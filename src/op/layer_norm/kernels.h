#pragma once
#include "ir/op_info.h"
#include "op/simd_level.h"

namespace ridge::op {
void layer_norm_ref(const ir::Bound& b);
ir::CpuKernel layer_norm_cpu(SimdLevel level);
// Scratch: a row for each worker, where rows are quantized.
std::int64_t layer_norm_cpu_scratch(const ir::Program& p, const ir::Call& c, const ir::Target& target);
}  // namespace ridge::op
