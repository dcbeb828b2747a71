#pragma once
#include "ir/op_info.h"

namespace ridge::op {
void rope_store_ref(const ir::Bound& b);
}  // namespace ridge::op
