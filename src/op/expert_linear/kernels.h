#pragma once
#include "ir/op_info.h"

namespace ridge::op {
ir::KernelChoice choose_expert_linear(const ir::Program& p, const ir::Call& c, const ir::Target& target);
void expert_linear_ref(const ir::Bound& b);
}  // namespace ridge::op
