#include "op/scale_columns/kernels.h"
#include "op/scale_columns/scale_columns.h"
#include "op/share.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "op/scale_columns/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "op/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ridge::op::HWY_NAMESPACE {
namespace {

void scale_rows(const ir::Bound& b) {
  const View x = b.in[0], out = b.out[0];
  const float *scale = b.in[1].as<float>(), *bias = b.in[2] ? b.in[2].as<float>() : nullptr;
  const std::int64_t columns = x.columns();
  const bool one = b.in[1].dim(0) == 1;
  share_rows(b.pool, x.rows(), 12 * columns, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t t = begin; t < end; ++t)
      for (std::int64_t i = 0; i < columns; i += lanes) {
        const std::int64_t n = columns - i;
        const V s = one ? hn::Set(D(), scale[0]) : load_some(scale + i, n), v = load_some(x.row_as<float>(t) + i, n);
        store_some(bias ? hn::MulAdd(v, s, load_some(bias + i, n)) : hn::Mul(v, s), out.row_as<float>(t) + i, n);
      }
  });
}

}  // namespace
}  // namespace ridge::op::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::op {
ir::CpuKernel scale_columns_cpu(SimdLevel level) { return RIDGE_AT_LEVEL(level, scale_rows); }
}  // namespace ridge::op
#endif
