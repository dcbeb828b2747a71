#include "op/share.h"
#include "op/unary/kernels.h"
#include "op/unary/unary.h"
#include "tensor/quantize_act.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "op/unary/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "op/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ridge::op::HWY_NAMESPACE {
namespace {

// 0.5 (1 + tanh z) = 1 / (1 + exp(-2 z)), without the cancellation of 1 + tanh for large negative z.
HWY_INLINE V gelu_tanh(V x) {
  const D d;
  const V z = hn::Mul(hn::Mul(x, hn::Set(d, -2 * 0.7978845608028654f)),
                      hn::MulAdd(hn::Mul(x, x), hn::Set(d, 0.044715f), hn::Set(d, 1.0f)));
  return hn::Div(x, hn::Add(hn::Set(d, 1.0f), exponential(d, z)));
}

template <UnaryKind kind> void map_values(const float* x, float* out, std::int64_t n, float amount) {
  const D d;
  const V a = hn::Set(d, amount);
  for (std::int64_t i = 0; i < n; i += lanes) {
    const V v = load_some(x + i, n - i);
    if constexpr (kind == UnaryKind::scale) store_some(hn::Mul(a, v), out + i, n - i);
    if constexpr (kind == UnaryKind::softcap)
      store_some(hn::Mul(a, hyperbolic_tangent(d, hn::Div(v, a))), out + i, n - i);
    if constexpr (kind == UnaryKind::gelu_tanh) store_some(gelu_tanh(v), out + i, n - i);
  }
}

template <UnaryKind kind> void map_rows_as(const ir::Bound& b) {
  constexpr std::int64_t strip = 1024;  // columns at a time: whole blocks of q8_act
  const float amount = b.as<UnaryParams>().amount;
  const View x = b.in[0], out = b.out[0];
  const std::int64_t columns = x.columns(), strips = (columns + strip - 1) / strip;
  share_rows(b.pool, x.rows() * strips, strip * 24, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t t = i / strips, first = i % strips * strip, n = HWY_MIN(strip, columns - first);
      HWY_ALIGN float values[strip];
      float* const to = out.dtype == DType::q8_act ? values : out.row_as<float>(t) + first;
      map_values<kind>(x.row_as<float>(t) + first, to, n, amount);
      if (out.dtype == DType::q8_act) quantize_row(values, n, out.row(t) + row_bytes(DType::q8_act, first));
    }
  });
}

void map_rows(const ir::Bound& b) {
  switch (b.as<UnaryParams>().kind) {
    case UnaryKind::scale: return map_rows_as<UnaryKind::scale>(b);
    case UnaryKind::softcap: return map_rows_as<UnaryKind::softcap>(b);
    case UnaryKind::gelu_tanh: return map_rows_as<UnaryKind::gelu_tanh>(b);
  }
}

}  // namespace
}  // namespace ridge::op::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::op {
ir::CpuKernel unary_cpu(SimdLevel level) { return RIDGE_AT_LEVEL(level, map_rows); }
}  // namespace ridge::op
#endif
