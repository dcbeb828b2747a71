#pragma once
#include "ir/op_info.h"

namespace ridge::op {
void add_ref(const ir::Bound& b);
void add_cpu(const ir::Bound& b);
}  // namespace ridge::op
