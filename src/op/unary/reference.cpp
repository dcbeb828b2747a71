#include <cmath>
#include <vector>

#include "op/store_row.h"
#include "op/unary/kernels.h"
#include "op/unary/unary.h"

namespace ridge::op {

static double value(double x, const UnaryParams& u) {
  switch (u.kind) {
    case UnaryKind::scale: return u.amount * x;
    case UnaryKind::softcap: return u.amount * std::tanh(x / u.amount);
    case UnaryKind::gelu_tanh: return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
  }
  return 0;
}

void unary_ref(const ir::Bound& b) {
  const auto& params = b.as<UnaryParams>();
  std::vector<float> row(b.in[0].columns());
  for (std::int64_t t = 0; t < b.in[0].rows(); ++t) {
    for (std::int64_t i = 0; i < b.in[0].columns(); ++i) row[i] = float(value(b.in[0].row_as<float>(t)[i], params));
    store_row(row.data(), b.out[0], t);
  }
}

}  // namespace ridge::op
