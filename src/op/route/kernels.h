#pragma once
#include "ir/op_info.h"

namespace ridge::op {
void route_ref(const ir::Bound& b);
void route_cpu(const ir::Bound& b);
}  // namespace ridge::op
