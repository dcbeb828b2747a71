#pragma once
#include "ir/op_info.h"
#include "op/simd_level.h"

namespace ridge::op {
ir::KernelChoice choose_attention(const ir::Program& p, const ir::Call& c, const ir::Target& target);
void attention_ref(const ir::Bound& b);
void attention_uncached_ref(const ir::Bound& b);

// Cached and uncached.
ir::CpuKernel attention_cpu(SimdLevel level);
std::int64_t attention_cpu_scratch(const ir::Program& p, const ir::Call& c, const ir::Target& target);
}  // namespace ridge::op
