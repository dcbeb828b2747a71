#include <cmath>
#include <vector>

#include "op/layer_norm/kernels.h"
#include "op/layer_norm/layer_norm.h"
#include "op/store_row.h"

namespace ridge::op {

void layer_norm_ref(const ir::Bound& b) {
  const View x = b.in[0], weight = b.in[1], bias = b.in[2], out = b.out[0];
  const std::int64_t n = x.columns();
  std::vector<float> row(n);
  for (std::int64_t t = 0; t < x.rows(); ++t) {
    const float* from = x.row_as<float>(t);
    double mean = 0, variance = 0;
    for (std::int64_t i = 0; i < n; ++i) mean += from[i];
    mean /= double(n);
    for (std::int64_t i = 0; i < n; ++i) variance += (from[i] - mean) * (from[i] - mean);
    const double scale = 1 / std::sqrt(variance / double(n) + b.as<LayerNormParams>().eps);
    for (std::int64_t i = 0; i < n; ++i)
      row[i] = float((from[i] - mean) * scale * weight.as<float>()[i] + (bias ? bias.as<float>()[i] : 0.0f));
    store_row(row.data(), out, t);
  }
}

}  // namespace ridge::op
