#pragma once
#include "ir/op_info.h"

namespace ridge::op {
void rms_norm_ref(const ir::Bound& b);
void rms_norm_cpu(const ir::Bound& b);
std::int64_t rms_norm_cpu_scratch(const ir::Program& p, const ir::Call& c, const ir::Target& target);
}  // namespace ridge::op
