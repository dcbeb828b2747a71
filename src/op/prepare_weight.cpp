#include "op/prepare_weight.h"

#include <algorithm>

#include "base/thread_pool.h"
#include "op/embedding/embedding.h"
#include "op/expert_linear/expert_linear.h"
#include "op/linear/linear.h"
#include "op/linear/panel.h"

namespace ridge::op {

// Panels are for linear; a table that an embedding shares with the head may lie so too. Anybody else needs rows.
Layout weight_layout(const ir::Program& p, ir::Value weight, const ir::Target& target) {
  if (target.device != ir::Device::cpu || p[weight].shape.rank < 2 || !has_panels(p[weight].dtype)) return Layout::rows;
  bool multiplied = false;
  for (const ir::Call& c : p.calls()) {
    if (std::find(c.in.begin(), c.in.end(), weight) == c.in.end()) continue;
    if (c.op == &linear_op || c.op == &expert_linear_op) multiplied = true;
    else if (c.op != &embedding_op) return Layout::rows;
  }
  return multiplied ? Layout::panels : Layout::rows;
}

std::int64_t packed_bytes(const View& rows) {
  const std::int64_t matrices = rows.rank == 3 ? rows.dim(0) : 1;
  return matrices * packed_bytes(rows.dtype, rows.rows() / std::max<std::int64_t>(1, matrices), rows.columns());
}

View pack_weight(const View& rows, std::byte* to, ThreadPool& pool) {
  const std::int64_t matrices = rows.rank == 3 ? rows.dim(0) : 1;
  for (std::int64_t i = 0; i < matrices; ++i) {  // each in panels of its own
    const std::int64_t count = rows.rows() / matrices;
    const Matrix matrix{rows.data + i * count * rows.row_bytes(), rows.dtype, count, rows.columns()};
    std::byte* const panels = to + i * packed_bytes(rows.dtype, count, rows.columns());
    pool.parallel_ranges(panel_count(count), 0,
                         [&](std::int64_t first, std::int64_t last, int) { pack_panels(matrix, first, last, panels); });
  }
  View packed = rows;
  packed.data = to;
  packed.layout = Layout::panels;
  return packed;
}

}  // namespace ridge::op
