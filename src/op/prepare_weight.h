// How a weight lies in memory for a target, decided by the ops that read it, and the one repacking at load.
#pragma once
#include "ir/op_info.h"

namespace ridge {
class ThreadPool;
}

namespace ridge::op {

// Panels where some linear call of the program on this target reads it so; rows otherwise.
Layout weight_layout(const ir::Program& p, ir::Value weight, const ir::Target& target);

std::int64_t packed_bytes(const View& rows);  // of the same weight in panels
// Repacks `rows` into `to` (packed_bytes of it) and returns the view of it there.
View pack_weight(const View& rows, std::byte* to, ThreadPool& pool);

}  // namespace ridge::op
