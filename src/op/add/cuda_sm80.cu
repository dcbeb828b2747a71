#include "op/add/add.h"
#include "op/store_row.cuh"

namespace ridge::op {
namespace {

struct Sum {
  const float *a, *b;
  std::int64_t columns;
  float scale;
  __device__ float operator()(std::int64_t r, std::int64_t c) const {
    return __fadd_rn(a[r * columns + c], __fmul_rn(scale, b[r * columns + c]));
  }
};

void add_cuda(const ir::CudaBound& b) {
  launch_each_value(b, b.out[0],
                    Sum{b.in[0].as<float>(), b.in[1].as<float>(), b.in[0].columns(), b.as<AddParams>().scale});
}

}  // namespace

ir::KernelChoice choose_add_cuda(const ir::Program&, const ir::Call&, const ir::Target&) {
  return {.kernel = "add/sm80", .reason = "value by value", .launch = add_cuda};
}

}  // namespace ridge::op
