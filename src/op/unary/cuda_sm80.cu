#include "op/store_row.cuh"
#include "op/unary/unary.h"

namespace ridge::op {
namespace {

struct Apply {
  const float* x;
  std::int64_t columns;
  UnaryParams params;
  __device__ float operator()(std::int64_t r, std::int64_t c) const {
    const float v = x[r * columns + c];
    switch (params.kind) {
      case UnaryKind::scale: return params.amount * v;
      case UnaryKind::softcap: return params.amount * tanhf(v / params.amount);
      case UnaryKind::gelu_tanh: return 0.5f * v * (1 + tanhf(0.7978845608028654f * (v + 0.044715f * v * v * v)));
    }
    return 0;
  }
};

void unary_cuda(const ir::CudaBound& b) {
  launch_each_value(b, b.out[0], Apply{b.in[0].as<float>(), b.in[0].columns(), b.as<UnaryParams>()});
}

}  // namespace

ir::KernelChoice choose_unary_cuda(const ir::Program&, const ir::Call&, const ir::Target&) {
  return {.kernel = "unary/sm80", .reason = "value by value", .launch = unary_cuda};
}

}  // namespace ridge::op
