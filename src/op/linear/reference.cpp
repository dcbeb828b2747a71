#include <vector>

#include "base/thread_pool.h"
#include "op/linear/kernels.h"
#include "op/linear/linear.h"

namespace ridge::op {

void linear_ref(const ir::Bound& b) {
  const std::size_t segments = b.out.size();
  const View x = b.in[0];
  const std::int64_t columns = x.columns();
  std::vector<float> in(static_cast<std::size_t>(x.rows() * columns));
  for (std::int64_t t = 0; t < x.rows(); ++t) info(x.dtype).decode(x.row(t), &in[t * columns], columns);
  for (std::size_t s = 0; s < segments; ++s) {
    const View weight = b.in[1 + s], bias = b.in[1 + segments + s];
    b.pool.parallel_for(weight.dim(0), [&](std::int64_t n, int) {
      std::vector<float> w(columns);
      info(weight.dtype).decode(weight.row(n), w.data(), columns);
      float shift = 0;
      if (bias) info(bias.dtype).decode(bias.data + n * row_bytes(bias.dtype, 1), &shift, 1);
      for (std::int64_t t = 0; t < x.rows(); ++t) {
        double sum = 0;
        for (std::int64_t i = 0; i < columns; ++i) sum += double(w[i]) * in[t * columns + i];
        b.out[s].row_as<float>(t)[n] = float(sum + shift);
      }
    });
  }
}

}  // namespace ridge::op
