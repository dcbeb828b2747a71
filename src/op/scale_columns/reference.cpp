#include "op/scale_columns/kernels.h"
#include "op/scale_columns/scale_columns.h"

namespace ridge::op {

void scale_columns_ref(const ir::Bound& b) {
  const View x = b.in[0], scale = b.in[1], bias = b.in[2], out = b.out[0];
  for (std::int64_t t = 0; t < x.rows(); ++t)
    for (std::int64_t i = 0; i < x.columns(); ++i) {
      const double product = double(x.row_as<float>(t)[i]) * scale.as<float>()[scale.dim(0) == 1 ? 0 : i];
      out.row_as<float>(t)[i] = float(product + (bias ? bias.as<float>()[i] : 0.0f));
    }
}

}  // namespace ridge::op
