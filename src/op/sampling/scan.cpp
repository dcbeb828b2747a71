#include "op/sampling/scan.h"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "op/sampling/scan.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "op/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ridge::op::HWY_NAMESPACE {
namespace {

constexpr float lowest = -std::numeric_limits<float>::infinity();

HWY_INLINE V load_or_lowest(const float* p, std::int64_t n) {  // what is not there is never the largest
  if (n >= lanes) return hn::LoadU(D(), p);
  return hn::IfThenElse(hn::FirstN(D(), std::size_t(n)), load_some(p, n), hn::Set(D(), lowest));
}

float largest(const float* logits, std::int64_t n) {
  const D d;
  V top = hn::Set(d, lowest), numbers = hn::Zero(d);  // NaN in a lane of `numbers` stays there: x - x is 0, or NaN
  for (std::int64_t i = 0; i < n; i += lanes) {
    const V x = load_or_lowest(logits + i, n - i);
    top = hn::Max(top, x);
    numbers = hn::IfThenElse(hn::Eq(x, x), numbers, x);
  }
  const float nan = hn::GetLane(hn::SumOfLanes(d, numbers));
  return nan != nan ? nan : hn::GetLane(hn::MaxOfLanes(d, top));
}

std::int64_t find(const float* logits, std::int64_t n, float value) {
  const D d;
  for (std::int64_t i = 0; i < n; i += lanes) {
    const auto lane = hn::FindFirstTrue(d, hn::Eq(load_or_lowest(logits + i, n - i), hn::Set(d, value)));
    if (lane >= 0) return i + lane;
  }
  return n;
}

// Weights are doubles, for the draw walks a sum of them: in float the last of 50,000 tokens would get each other's
// share.
using D64 = hn::ScalableTag<double>;
using V64 = hn::Vec<D64>;
constexpr int lanes64 = lanes > 1 ? lanes / 2 : 1;

// e^x for x in [-700, 0], within 1e-15: x = n ln 2 + r (ln 2 in two parts, fdlibm's), Taylor's series for e^r.
HWY_INLINE V64 exponential64(V64 x) {
  constexpr double inverse_factorials[] = {
      1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
      1.0 / 720,        1.0 / 120,       1.0 / 24,       1.0 / 6,       1.0 / 2,      1.0,         1.0};
  const D64 d;
  const hn::RebindToSigned<D64> di;
  const V64 shift = hn::Set(d, 6755399441055744.0);  // 1.5 x 2^52: adding it rounds to an integer, in the low bits
  const V64 shifted = hn::MulAdd(x, hn::Set(d, 1.44269504088896338700), shift);
  const V64 n = hn::Sub(shifted, shift);
  V64 r = hn::NegMulAdd(n, hn::Set(d, 6.93147180369123816490e-01), x);
  r = hn::NegMulAdd(n, hn::Set(d, 1.90821492927058770002e-10), r);
  V64 p = hn::Set(d, inverse_factorials[0]);
#pragma GCC unroll 13
  for (int i = 1; i < 14; ++i) p = hn::MulAdd(p, r, hn::Set(d, inverse_factorials[i]));
  return hn::Mul(p, hn::BitCast(d, hn::ShiftLeft<52>(hn::Add(hn::BitCast(di, shifted), hn::Set(di, 1023)))));
}

HWY_INLINE V64 weights(hn::Vec<hn::Rebind<float, D64>> logits, float most, double scale) {
  const D64 d;
  const V64 x = hn::Mul(hn::Sub(hn::PromoteTo(d, logits), hn::Set(d, double(most))), hn::Set(d, scale));
  return exponential64(hn::Max(x, hn::Set(d, -700.0)));
}

double total_weight(const float* logits, std::int64_t n, float most, double scale) {
  const hn::Rebind<float, D64> df;
  V64 sum = hn::Zero(D64());
  std::int64_t i = 0;
  for (; i + lanes64 <= n; i += lanes64) sum = hn::Add(sum, weights(hn::LoadU(df, logits + i), most, scale));
  double total = hn::GetLane(hn::SumOfLanes(D64(), sum));
  for (; i < n; ++i) total += hn::GetLane(weights(hn::Set(df, logits[i]), most, scale));
  return total;
}

std::int64_t collect(const float* logits, std::int64_t first, std::int64_t n, float floor, Candidate* out,
                     std::int64_t room, std::int64_t& count) {
  const D d;
  const V bound = hn::Set(d, floor);
  std::int64_t i = first;
  for (; i < n && count + lanes <= room; i += lanes) {
    const V x = load_or_lowest(logits + i, n - i);
    if (hn::AllFalse(d, hn::Gt(x, bound))) continue;
    for (std::int64_t k = i; k < HWY_MIN(i + lanes, n); ++k)
      if (logits[k] > floor) out[count++] = {logits[k], std::int32_t(k), 0};
  }
  return HWY_MIN(i, n);
}

void weigh(Candidate* candidates, std::int64_t n, float most, double scale) {
  const hn::Rebind<float, D64> df;
  HWY_ALIGN float logits[lanes64];
  HWY_ALIGN double batch[lanes64];
  for (std::int64_t i = 0; i < n; i += lanes64) {
    const std::int64_t here = HWY_MIN(n - i, std::int64_t(lanes64));
    for (std::int64_t k = 0; k < lanes64; ++k) logits[k] = k < here ? candidates[i + k].logit : most;
    hn::Store(weights(hn::Load(df, logits), most, scale), D64(), batch);
    for (std::int64_t k = 0; k < here; ++k) candidates[i + k].weight = batch[k];
  }
}

}  // namespace
}  // namespace ridge::op::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::op {

Scan scan_at(SimdLevel level) {
  return {RIDGE_AT_LEVEL(level, largest), RIDGE_AT_LEVEL(level, find), RIDGE_AT_LEVEL(level, total_weight),
          RIDGE_AT_LEVEL(level, collect), RIDGE_AT_LEVEL(level, weigh)};
}

}  // namespace ridge::op
#endif
