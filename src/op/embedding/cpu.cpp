#include "op/embedding/embedding.h"
#include "op/embedding/kernels.h"
#include "op/linear/panel.h"
#include "op/share.h"

namespace ridge::op {

void embedding_cpu(const ir::Bound& b) {
  const float scale = b.as<EmbeddingParams>().scale;
  const View tokens = b.in[0], table = b.in[1], out = b.out[0];
  share_rows(b.pool, tokens.dim(0), 8 * table.columns(), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t t = begin; t < end; ++t) {
      const std::int64_t id = tokens.as<std::int32_t>()[t];
      float* row = out.row_as<float>(t);
      if (table.layout == Layout::panels) decode_panel_row(table.data, table.dtype, table.columns(), id, row);
      else info(table.dtype).decode(table.row(id), row, table.columns());
      for (std::int64_t i = 0; scale != 1 && i < table.columns(); ++i) row[i] *= scale;
    }
  });
}

}  // namespace ridge::op
