#include "op/add/add.h"
#include "op/add/kernels.h"
#include "op/share.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "op/add/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "op/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ridge::op::HWY_NAMESPACE {
namespace {

void add_rows(const ir::Bound& b) {
  const std::int64_t columns = b.in[0].columns();
  const V scale = hn::Set(D(), b.as<AddParams>().scale);
  share_rows(b.pool, b.in[0].rows(), 12 * columns, [&](std::int64_t begin, std::int64_t end, int) {
    const float *x = b.in[0].row_as<float>(begin), *y = b.in[1].row_as<float>(begin);
    float* out = b.out[0].row_as<float>(begin);
    const std::int64_t n = (end - begin) * columns;
    for (std::int64_t i = 0; i < n; i += lanes)
      store_some(hn::MulAdd(scale, load_some(y + i, n - i), load_some(x + i, n - i)), out + i, n - i);
  });
}

}  // namespace
}  // namespace ridge::op::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::op {
ir::CpuKernel add_cpu(SimdLevel level) { return RIDGE_AT_LEVEL(level, add_rows); }
}  // namespace ridge::op
#endif
