#include <cmath>
#include <vector>

#include "op/silu_gate/kernels.h"
#include "op/silu_gate/silu_gate.h"
#include "op/store_row.h"

namespace ridge::op {

static double activate(double x, GateKind kind) {
  if (kind == GateKind::silu) return x / (1 + std::exp(-x));
  return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

void silu_gate_ref(const ir::Bound& b) {
  const GateKind kind = b.as<SiluGateParams>().kind;
  const View gate = b.in[0], up = b.in[1], out = b.out[0];
  std::vector<float> row(out.columns());
  for (std::int64_t t = 0; t < gate.rows(); ++t) {
    for (std::int64_t i = 0; i < gate.columns(); ++i)
      row[i] = float(activate(gate.row_as<float>(t)[i], kind) * up.row_as<float>(t)[i]);
    store_row(row.data(), out, t);
  }
}

}  // namespace ridge::op
