#pragma once
#include "ir/op_info.h"

namespace ridge::op {
ir::KernelChoice choose_linear(const ir::Program& p, const ir::Call& c, const ir::Target& target);
void linear_ref(const ir::Bound& b);
}  // namespace ridge::op
