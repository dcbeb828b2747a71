#include "op/prepare_weight.h"

#include "base/error.h"

namespace ridge::op {

Layout weight_layout(const ir::Program&, ir::Value, const ir::Target&) { return Layout::rows; }
std::int64_t packed_bytes(const View& rows) { return rows.bytes(); }
View pack_weight(const View& rows, std::byte*, ThreadPool&) { return rows; }

}  // namespace ridge::op
