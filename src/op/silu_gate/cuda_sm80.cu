#include "op/silu_gate/silu_gate.h"
#include "op/store_row.cuh"

namespace ridge::op {
namespace {

struct Gate {
  const float *gate, *up;
  std::int64_t columns;
  GateKind kind;
  __device__ float operator()(std::int64_t r, std::int64_t c) const {
    const float x = gate[r * columns + c], y = up[r * columns + c];
    if (kind == GateKind::silu) return x / (1 + expf(-x)) * y;
    return 0.5f * x * (1 + tanhf(0.7978845608028654f * (x + 0.044715f * x * x * x))) * y;
  }
};

}  // namespace

void silu_gate_cuda(const ir::CudaBound& b) {
  launch_each_value(b, b.out[0],
                    Gate{b.in[0].as<float>(), b.in[1].as<float>(), b.in[0].columns(), b.as<SiluGateParams>().kind});
}

ir::KernelChoice choose_silu_gate_cuda(const ir::Program&, const ir::Call&, const ir::Target&) {
  return {.kernel = "silu_gate/sm80", .reason = "value by value", .launch = silu_gate_cuda};
}

}  // namespace ridge::op
