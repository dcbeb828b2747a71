#include <cmath>
#include <vector>

#include "op/rms_norm/kernels.h"
#include "op/rms_norm/rms_norm.h"
#include "op/store_row.h"

namespace ridge::op {

void rms_norm_ref(const ir::Bound& b) {
  const auto& params = b.as<RmsNormParams>();
  const View x = b.in[0], weight = b.in[1], out = b.out[0];
  const View residual = b.in.size() == 3 ? b.in[2] : View{};
  const std::int64_t columns = x.columns(), group = weight.dim(0);
  std::vector<float> w(group), row(columns);
  info(weight.dtype).decode(weight.data, w.data(), group);
  for (std::int64_t t = 0; t < x.rows(); ++t) {
    for (std::int64_t i = 0; i < columns; ++i)
      row[i] = x.row_as<float>(t)[i] + (residual ? residual.row_as<float>(t)[i] : 0.0f);
    if (residual) std::copy(row.begin(), row.end(), b.out[1].row_as<float>(t));
    for (std::int64_t first = 0; first < columns; first += group) {
      double squares = 0;
      for (std::int64_t i = 0; i < group; ++i) squares += double(row[first + i]) * row[first + i];
      const double scale = 1.0 / std::sqrt(squares / double(group) + params.eps);
      for (std::int64_t i = 0; i < group; ++i)
        row[first + i] = float(row[first + i] * scale * (double(w[i]) + params.offset));
    }
    store_row(row.data(), out, t);
  }
}

}  // namespace ridge::op
