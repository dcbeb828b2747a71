#include <cmath>

#include "op/layer_norm/kernels.h"
#include "op/layer_norm/layer_norm.h"
#include "op/share.h"
#include "tensor/quantize_act.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "op/layer_norm/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "op/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ridge::op::HWY_NAMESPACE {
namespace {

// x - mean for n values, in an order that depends on n alone; returns the sum of its squares.
float center(const float* x, float* out, std::int64_t n) {
  constexpr int ways = 4;
  const D d;
  V total[ways] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  const auto sum = [&] {
    return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(total[0], total[1]), hn::Add(total[2], total[3]))));
  };
  for (std::int64_t i = 0, way = 0; i < n; i += lanes, way = (way + 1) % ways)
    total[way] = hn::Add(total[way], load_some(x + i, n - i));
  const V mean = hn::Set(d, sum() / float(n));
  for (V& t : total) t = hn::Zero(d);
  for (std::int64_t i = 0, way = 0; i < n; i += lanes, way = (way + 1) % ways) {
    const V v = hn::Sub(load_some(x + i, n - i), mean);
    store_some(v, out + i, n - i);
    // lanes past the end hold -mean: not part of the row
    const V part = n - i >= lanes ? v : hn::IfThenElseZero(hn::FirstN(d, std::size_t(n - i)), v);
    total[way] = hn::MulAdd(part, part, total[way]);
  }
  return sum();
}

void scale_row(const float* weight, const float* bias, float scale, float* row, std::int64_t n) {
  const V s = hn::Set(D(), scale);
  for (std::int64_t i = 0; i < n; i += lanes) {
    const V v = hn::Mul(hn::Mul(load_some(row + i, n - i), s), load_some(weight + i, n - i));
    store_some(bias ? hn::Add(v, load_some(bias + i, n - i)) : v, row + i, n - i);
  }
}

void normalize_rows(const ir::Bound& b) {
  const View x = b.in[0], out = b.out[0];
  const float *weight = b.in[1].as<float>(), *bias = b.in[2] ? b.in[2].as<float>() : nullptr;
  const std::int64_t n = x.columns();
  const bool quantizes = out.dtype == DType::q8_act;
  auto* const rows = reinterpret_cast<float*>(b.scratch.data());
  share_rows(b.pool, x.rows(), 12 * n, [&](std::int64_t begin, std::int64_t end, int worker) {
    for (std::int64_t t = begin; t < end; ++t) {
      float* const to = quantizes ? rows + worker * n : out.row_as<float>(t);
      const float squares = center(x.row_as<float>(t), to, n);
      scale_row(weight, bias, 1 / std::sqrt(squares / float(n) + b.as<LayerNormParams>().eps), to, n);
      if (quantizes) quantize_row(to, n, out.row(t));
    }
  });
}

}  // namespace
}  // namespace ridge::op::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::op {

ir::CpuKernel layer_norm_cpu(SimdLevel level) { return RIDGE_AT_LEVEL(level, normalize_rows); }

std::int64_t layer_norm_cpu_scratch(const ir::Program& p, const ir::Call& c, const ir::Target& target) {
  if (p[c.out[0]].dtype != DType::q8_act) return 0;
  return target.threads * p[c.in[0]].shape[1].size * std::int64_t(sizeof(float));
}

}  // namespace ridge::op
#endif
