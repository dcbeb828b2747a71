#pragma once
#include "ir/op_info.h"

namespace ridge::op {
ir::KernelChoice choose_attention(const ir::Program& p, const ir::Call& c, const ir::Target& target);
void attention_ref(const ir::Bound& b);
void attention_uncached_ref(const ir::Bound& b);
}  // namespace ridge::op
