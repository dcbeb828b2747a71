#pragma once
#include "ir/op_info.h"

namespace ridge::op {
void kv_store_ref(const ir::Bound& b);
void kv_store_cpu(const ir::Bound& b);
}  // namespace ridge::op
