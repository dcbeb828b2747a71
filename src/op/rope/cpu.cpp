#include <cmath>

#include "op/rope/kernels.h"
#include "op/rope/rope.h"
#include "op/share.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "op/rope/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "op/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ridge::op::HWY_NAMESPACE {
namespace {

// ---- angles, in doubles: a position of 131072 leaves a float no digits for the angle ----

using D64 = hn::ScalableTag<double>;
using V64 = hn::Vec<D64>;
constexpr int lanes64 = lanes > 1 ? lanes / 2 : 1;

struct SineCosine {
  V64 sine, cosine;
};

// Within 1e-10 for |x| < 2^20: x = n pi/2 + r with pi/2 in two parts (fdlibm's pio2_1 and pio2_1t; n times the first is
// exact), Taylor series for |r| <= pi/4, and the quadrant from the last bits of n.
HWY_INLINE SineCosine sine_cosine(V64 x) {
  const D64 d;
  const hn::RebindToSigned<D64> di;
  const V64 shift = hn::Set(d, 6755399441055744.0);  // 1.5 x 2^52: adding it rounds to an integer, in the low bits
  const V64 shifted = hn::MulAdd(x, hn::Set(d, 0.63661977236758134308), shift);
  const V64 n = hn::Sub(shifted, shift);
  V64 r = hn::NegMulAdd(n, hn::Set(d, 1.57079632673412561417e+00), x);
  r = hn::NegMulAdd(n, hn::Set(d, 6.07710050650619224932e-11), r);
  const V64 z = hn::Mul(r, r);
  V64 s = hn::MulAdd(hn::Set(d, -1.0 / 39916800), z, hn::Set(d, 1.0 / 362880));
  s = hn::MulAdd(s, z, hn::Set(d, -1.0 / 5040));
  s = hn::MulAdd(s, z, hn::Set(d, 1.0 / 120));
  s = hn::MulAdd(s, z, hn::Set(d, -1.0 / 6));
  s = hn::MulAdd(hn::Mul(s, z), r, r);
  V64 c = hn::MulAdd(hn::Set(d, 1.0 / 479001600), z, hn::Set(d, -1.0 / 3628800));
  c = hn::MulAdd(c, z, hn::Set(d, 1.0 / 40320));
  c = hn::MulAdd(c, z, hn::Set(d, -1.0 / 720));
  c = hn::MulAdd(c, z, hn::Set(d, 1.0 / 24));
  c = hn::MulAdd(c, z, hn::Set(d, -0.5));
  c = hn::MulAdd(c, z, hn::Set(d, 1.0));
  const auto quadrant = hn::BitCast(di, shifted), one = hn::Set(di, 1), two = hn::Set(di, 2);
  const auto odd = hn::MaskFromVec(hn::BitCast(d, hn::Neg(hn::And(quadrant, one))));
  const V64 sine_sign = hn::BitCast(d, hn::ShiftLeft<62>(hn::And(quadrant, two)));
  const V64 cosine_sign = hn::BitCast(d, hn::ShiftLeft<62>(hn::And(hn::Add(quadrant, one), two)));
  return {hn::Xor(hn::IfThenElse(odd, c, s), sine_sign), hn::Xor(hn::IfThenElse(odd, s, c), cosine_sign)};
}

void angle_rows(const ir::Bound& b) {
  const View positions = b.in[0], frequencies = b.in[1], out = b.out[0];
  const std::int64_t half = frequencies.dim(0);
  const double scale = b.as<RopeAnglesParams>().scale;
  const D64 d;
  const hn::Rebind<float, D64> df;
  share_rows(b.pool, positions.dim(0), 32 * half, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t t = begin; t < end; ++t) {
      const double position = positions.as<std::int32_t>()[t];
      float *const cosines = out.row_as<float>(t), *const sines = cosines + half;
      std::int64_t i = 0;
      for (; i + lanes64 <= half; i += lanes64) {
        const V64 f = hn::PromoteTo(d, hn::LoadU(df, frequencies.as<float>() + i));
        const SineCosine a = sine_cosine(hn::Mul(f, hn::Set(d, position)));
        hn::StoreU(hn::DemoteTo(df, hn::Mul(a.cosine, hn::Set(d, scale))), df, cosines + i);
        hn::StoreU(hn::DemoteTo(df, hn::Mul(a.sine, hn::Set(d, scale))), df, sines + i);
      }
      for (; i < half; ++i) {
        const double angle = position * frequencies.as<float>()[i];
        cosines[i] = float(std::cos(angle) * scale), sines[i] = float(std::sin(angle) * scale);
      }
    }
  });
}

// ---- rotation; `to` may be `from` ----

HWY_INLINE void rotate_halves(const float* from, const float* cosine, std::int64_t half, float* to) {
  for (std::int64_t i = 0; i < half; i += lanes) {
    const std::int64_t n = half - i;
    const V a = load_some(from + i, n), c = load_some(from + half + i, n);
    const V cos = load_some(cosine + i, n), sin = load_some(cosine + half + i, n);
    store_some(hn::NegMulAdd(c, sin, hn::Mul(a, cos)), to + i, n);
    store_some(hn::MulAdd(a, sin, hn::Mul(c, cos)), to + half + i, n);
  }
}

HWY_INLINE void rotate_pairs(const float* from, const float* cosine, std::int64_t half, float* to) {
  const D d;
  std::int64_t i = 0;
  for (; i + lanes <= half; i += lanes) {
    V a, c;
    hn::LoadInterleaved2(d, from + 2 * i, a, c);
    const V cos = hn::LoadU(d, cosine + i), sin = hn::LoadU(d, cosine + half + i);
    hn::StoreInterleaved2(hn::NegMulAdd(c, sin, hn::Mul(a, cos)), hn::MulAdd(a, sin, hn::Mul(c, cos)), d, to + 2 * i);
  }
  for (; i < half; ++i) {
    const float a = from[2 * i], c = from[2 * i + 1];
    to[2 * i] = a * cosine[i] - c * cosine[half + i];
    to[2 * i + 1] = a * cosine[half + i] + c * cosine[i];
  }
}

void rotate_rows(const ir::Bound& b) {
  const auto& params = b.as<RopeParams>();
  const View x = b.in[0], angles = b.in[1], out = b.out[0];
  const std::int64_t half = angles.columns() / 2, columns = x.columns(), rest = params.head_dim - 2 * half;
  share_rows(b.pool, x.rows(), 8 * columns, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t t = begin; t < end; ++t)
      for (std::int64_t head = 0; head < columns; head += params.head_dim) {
        const float* const from = x.row_as<float>(t) + head;
        float* const to = out.row_as<float>(t) + head;
        if (params.style == RopeStyle::halves) rotate_halves(from, angles.row_as<float>(t), half, to);
        else rotate_pairs(from, angles.row_as<float>(t), half, to);
        if (from != to && rest > 0) std::copy_n(from + 2 * half, rest, to + 2 * half);
      }
  });
}

}  // namespace
}  // namespace ridge::op::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::op {

ir::CpuKernel rope_angles_cpu(SimdLevel level) { return RIDGE_AT_LEVEL(level, angle_rows); }
ir::CpuKernel rope_cpu(SimdLevel level) { return RIDGE_AT_LEVEL(level, rotate_rows); }

}  // namespace ridge::op
#endif
