#pragma once
#include "ir/op_info.h"

namespace ridge::op {
void fused_linear_ref(const ir::Bound& b);
}  // namespace ridge::op
