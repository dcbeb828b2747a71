#pragma once
#include "ir/op_info.h"
#include "op/simd_level.h"

namespace ridge::op {
void rms_norm_ref(const ir::Bound& b);
ir::CpuKernel rms_norm_cpu(SimdLevel level);
// Scratch: the weight as floats, where it is stored as something else, and a row for each worker, where rows are
// quantized.
std::int64_t rms_norm_cpu_scratch(const ir::Program& p, const ir::Call& c, const ir::Target& target);
std::int64_t rms_norm_weight_floats(std::int64_t group);  // whole cache lines
}  // namespace ridge::op
