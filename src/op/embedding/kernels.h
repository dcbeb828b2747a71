#pragma once
#include "ir/op_info.h"

namespace ridge::op {
void embedding_ref(const ir::Bound& b);
void embedding_cpu(const ir::Bound& b);  // the table may lie in panels
}  // namespace ridge::op
