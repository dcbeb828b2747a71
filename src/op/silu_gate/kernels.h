#pragma once
#include "ir/op_info.h"

namespace ridge::op {
void silu_gate_ref(const ir::Bound& b);
void silu_gate_cpu(const ir::Bound& b);
std::int64_t silu_gate_cpu_scratch(const ir::Program& p, const ir::Call& c, const ir::Target& target);
}  // namespace ridge::op
