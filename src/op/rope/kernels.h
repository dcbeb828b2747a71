#pragma once
#include "ir/op_info.h"

namespace ridge::op {
void rope_angles_ref(const ir::Bound& b);
void rope_angles_cpu(const ir::Bound& b);
void rope_ref(const ir::Bound& b);
void rope_cpu(const ir::Bound& b);
}  // namespace ridge::op
