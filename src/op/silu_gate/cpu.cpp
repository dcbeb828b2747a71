#include "op/share.h"
#include "op/silu_gate/kernels.h"
#include "op/silu_gate/silu_gate.h"
#include "tensor/quantize_act.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "op/silu_gate/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "op/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ridge::op::HWY_NAMESPACE {
namespace {

HWY_INLINE V silu(V x) {
  const D d;
  return hn::Div(x, hn::Add(hn::Set(d, 1.0f), exponential(d, hn::Neg(x))));
}
// 0.5 (1 + tanh z) = 1 / (1 + exp(-2 z)), without the cancellation of 1 + tanh for large negative z.
HWY_INLINE V gelu_tanh(V x) {
  const D d;
  const V z = hn::Mul(hn::Mul(x, hn::Set(d, -2 * 0.7978845608028654f)),
                      hn::MulAdd(hn::Mul(x, x), hn::Set(d, 0.044715f), hn::Set(d, 1.0f)));
  return hn::Div(x, hn::Add(hn::Set(d, 1.0f), exponential(d, z)));
}

template <GateKind kind> void gate_values(const float* gate, const float* up, float* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; i += lanes) {
    const V x = load_some(gate + i, n - i);
    const V active = kind == GateKind::silu ? silu(x) : gelu_tanh(x);
    store_some(hn::Mul(active, load_some(up + i, n - i)), out + i, n - i);
  }
}

template <GateKind kind> void gate_rows_as(const ir::Bound& b) {
  constexpr std::int64_t strip = 1024;  // columns at a time: whole blocks of q8_act
  const View gate = b.in[0], up = b.in[1], out = b.out[0];
  const std::int64_t columns = gate.columns(), strips = (columns + strip - 1) / strip;
  // An exponential and a division cost about as much as moving 32 bytes.
  share_rows(b.pool, gate.rows() * strips, strip * 32, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t t = i / strips, first = i % strips * strip, n = HWY_MIN(strip, columns - first);
      HWY_ALIGN float values[strip];
      float* const to = out.dtype == DType::q8_act ? values : out.row_as<float>(t) + first;
      gate_values<kind>(gate.row_as<float>(t) + first, up.row_as<float>(t) + first, to, n);
      if (out.dtype == DType::q8_act) quantize_row(values, n, out.row(t) + row_bytes(DType::q8_act, first));
    }
  });
}

void gate_rows(const ir::Bound& b) {
  if (b.as<SiluGateParams>().kind == GateKind::silu) gate_rows_as<GateKind::silu>(b);
  else gate_rows_as<GateKind::gelu_tanh>(b);
}

}  // namespace
}  // namespace ridge::op::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::op {
ir::CpuKernel silu_gate_cpu(SimdLevel level) { return RIDGE_AT_LEVEL(level, gate_rows); }
}  // namespace ridge::op
#endif
