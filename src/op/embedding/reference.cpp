#include "op/embedding/embedding.h"
#include "op/embedding/kernels.h"

namespace ridge::op {

void embedding_ref(const ir::Bound& b) {
  const float scale = b.as<EmbeddingParams>().scale;
  const View tokens = b.in[0], table = b.in[1], out = b.out[0];
  for (std::int64_t t = 0; t < tokens.dim(0); ++t) {
    float* row = out.row_as<float>(t);
    info(table.dtype).decode(table.row(tokens.as<std::int32_t>()[t]), row, table.columns());
    for (std::int64_t i = 0; i < table.columns(); ++i) row[i] *= scale;
  }
}

}  // namespace ridge::op
