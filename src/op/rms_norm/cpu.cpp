#include <cmath>

#include "op/rms_norm/kernels.h"
#include "op/rms_norm/rms_norm.h"
#include "op/share.h"
#include "tensor/quantize_act.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "op/rms_norm/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "op/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ridge::op::HWY_NAMESPACE {
namespace {

// The sum of squares of n values, in an order that depends on n alone; with a residual, of x + residual, which goes to
// `sum`.
float squares(const float* x, const float* residual, float* sum, std::int64_t n) {
  constexpr int ways = 4;
  const D d;
  V total[ways] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  for (std::int64_t i = 0, way = 0; i < n; i += lanes, way = (way + 1) % ways) {
    V v = load_some(x + i, n - i);
    if (residual) {
      v = hn::Add(v, load_some(residual + i, n - i));
      store_some(v, sum + i, n - i);
    }
    total[way] = hn::MulAdd(v, v, total[way]);
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(total[0], total[1]), hn::Add(total[2], total[3]))));
}

void scale_group(const float* x, const float* weight, float scale, float offset, float* out, std::int64_t n) {
  const V s = hn::Set(D(), scale), o = hn::Set(D(), offset);
  for (std::int64_t i = 0; i < n; i += lanes)
    store_some(hn::Mul(hn::Mul(load_some(x + i, n - i), s), hn::Add(load_some(weight + i, n - i), o)), out + i, n - i);
}

void normalize_rows(const ir::Bound& b) {
  const auto& params = b.as<RmsNormParams>();
  const View x = b.in[0], weight = b.in[1], out = b.out[0], residual = b.in.size() == 3 ? b.in[2] : View{};
  const std::int64_t columns = x.columns(), group = weight.dim(0);
  auto* const floats = reinterpret_cast<float*>(b.scratch.data());
  const float* w = weight.as<float>();
  if (weight.dtype != DType::f32) {
    info(weight.dtype).decode(weight.data, floats, group);
    w = floats;
  }
  const bool quantizes = out.dtype == DType::q8_act;
  float* const rows = floats + rms_norm_weight_floats(group);  // one for each worker, where rows are quantized
  share_rows(b.pool, x.rows(), columns * (residual ? 16 : 8), [&](std::int64_t begin, std::int64_t end, int worker) {
    for (std::int64_t t = begin; t < end; ++t) {
      float* const sum = residual ? b.out[1].row_as<float>(t) : x.row_as<float>(t);
      float* const to = quantizes ? rows + worker * columns : out.row_as<float>(t);
      for (std::int64_t g = 0; g < columns; g += group) {
        const float total =
            squares(x.row_as<float>(t) + g, residual ? residual.row_as<float>(t) + g : nullptr, sum + g, group);
        scale_group(sum + g, w, 1 / std::sqrt(total / float(group) + params.eps), params.offset, to + g, group);
      }
      if (quantizes) quantize_row(to, columns, out.row(t));
    }
  });
}

}  // namespace
}  // namespace ridge::op::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::op {

ir::CpuKernel rms_norm_cpu(SimdLevel level) { return RIDGE_AT_LEVEL(level, normalize_rows); }

std::int64_t rms_norm_weight_floats(std::int64_t group) { return (group + 15) / 16 * 16; }

std::int64_t rms_norm_cpu_scratch(const ir::Program& p, const ir::Call& c, const ir::Target& target) {
  const bool decodes = p[c.in[1]].dtype != DType::f32, quantizes = p[c.out[0]].dtype == DType::q8_act;
  if (!decodes && !quantizes) return 0;
  const std::int64_t rows = quantizes ? target.threads * p[c.in[0]].shape[1].size : 0;
  return (rms_norm_weight_floats(p[c.in[1]].shape[0].size) + rows) * std::int64_t(sizeof(float));
}

}  // namespace ridge::op
#endif
