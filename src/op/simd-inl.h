// What kernels of several ops compute in vectors. Included once for each Highway target.
#if defined(RIDGE_OP_SIMD_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RIDGE_OP_SIMD_INL_H
#undef RIDGE_OP_SIMD_INL_H
#else
#define RIDGE_OP_SIMD_INL_H
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace ridge::op::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr int lanes = HWY_TARGET == HWY_AVX3 ? 16 : HWY_TARGET == HWY_AVX2 ? 8 : HWY_TARGET == HWY_SCALAR ? 1 : 4;

// Whether the processor masks loads and stores. Where it does not, Highway's masked ones touch the whole vector, and so
// what is behind a row's end: memory of others, or of nobody.
constexpr bool masks_memory = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2;

// The first n lanes (all of them where n is as large), the rest zero; and their store.
HWY_INLINE V load_some(const float* p, std::int64_t n) {
  if (n >= lanes) return hn::LoadU(D(), p);
  if constexpr (masks_memory) return hn::MaskedLoad(hn::FirstN(D(), std::size_t(n)), D(), p);
  HWY_ALIGN float some[lanes] = {};
  for (std::int64_t i = 0; i < n; ++i) some[i] = p[i];
  return hn::Load(D(), some);
}
HWY_INLINE void store_some(V x, float* p, std::int64_t n) {
  if (n >= lanes) return hn::StoreU(x, D(), p);
  if constexpr (masks_memory) return hn::BlendedStore(x, hn::FirstN(D(), std::size_t(n)), D(), p);
  HWY_ALIGN float some[lanes];
  hn::Store(x, D(), some);
  for (std::int64_t i = 0; i < n; ++i) p[i] = some[i];
}

// e^x within 2e-7 of itself: x = n ln 2 + r, and the polynomial of Cephes' expf (Moshier 1984) for e^r. Exactly 1 at 0,
// exactly 0 below -87.3; infinity and NaN come out as they should, for r is taken from x itself, not from its bounds.
template <class D, class V = hn::Vec<D>> HWY_INLINE V exponential(D d, V x) {
  const auto least = hn::Set(d, -87.3f);
  const V n = hn::Round(hn::Mul(hn::Min(hn::Max(x, least), hn::Set(d, 88.3f)), hn::Set(d, 1.44269504088896341f)));
  V r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), r);
  V p = hn::MulAdd(hn::Set(d, 1.9875691500e-4f), r, hn::Set(d, 1.3981999507e-3f));
  p = hn::MulAdd(p, r, hn::Set(d, 8.3334519073e-3f));
  p = hn::MulAdd(p, r, hn::Set(d, 4.1665795894e-2f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.6666665459e-1f));
  p = hn::MulAdd(p, r, hn::Set(d, 5.0000001201e-1f));
  p = hn::Add(hn::MulAdd(p, hn::Mul(r, r), r), hn::Set(d, 1.0f));
  const hn::RebindToSigned<D> di;
  const V power = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(di, n), hn::Set(di, 127))));
  return hn::IfThenZeroElse(hn::Lt(x, least), hn::Mul(p, power));
}

// tanh x within 3e-7 of itself: Cephes' polynomial near 0, where the other form would cancel, else 1 - 2 / (e^2x + 1).
template <class D, class V = hn::Vec<D>> HWY_INLINE V hyperbolic_tangent(D d, V x) {
  const V z = hn::Mul(x, x), one = hn::Set(d, 1.0f);
  V p = hn::MulAdd(hn::Set(d, -5.70498872745e-3f), z, hn::Set(d, 2.06390887954e-2f));
  p = hn::MulAdd(p, z, hn::Set(d, -5.37397155531e-2f));
  p = hn::MulAdd(p, z, hn::Set(d, 1.33314422036e-1f));
  p = hn::MulAdd(p, z, hn::Set(d, -3.33332819422e-1f));
  const V near = hn::MulAdd(hn::Mul(p, z), x, x);
  const V magnitude = hn::Abs(x);
  const V far = hn::Sub(one, hn::Div(hn::Set(d, 2.0f), hn::Add(exponential(d, hn::Add(magnitude, magnitude)), one)));
  return hn::IfThenElse(hn::Lt(magnitude, hn::Set(d, 0.625f)), near, hn::CopySign(far, x));
}

}  // namespace
}  // namespace ridge::op::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
