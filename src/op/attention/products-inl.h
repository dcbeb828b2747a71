// The two products of attention for a panel of R rows, in registers. Every sum runs over one index in order, one lane
// to a sum: its value does not depend on R, NV or where a panel begins.
#if defined(RIDGE_OP_ATTENTION_PRODUCTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RIDGE_OP_ATTENTION_PRODUCTS_INL_H
#undef RIDGE_OP_ATTENTION_PRODUCTS_INL_H
#else
#define RIDGE_OP_ATTENTION_PRODUCTS_INL_H
#endif

#include <hwy/highway.h>

#include "op/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ridge::op::HWY_NAMESPACE {
namespace {
// R x most_vectors sums, the vectors that feed them and a broadcast: 29 of 32 registers, 15 of 16.
constexpr int most_vectors = lanes == 16 ? 4 : 2;

HWY_INLINE V load(const float* p) { return hn::LoadU(D(), p); }
HWY_INLINE V load(const hwy::float16_t* p) {
  const V x = hn::PromoteTo(D(), hn::LoadU(hn::Rebind<hwy::float16_t, D>(), p));
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  return x;
#else  // without an instruction for it, Highway takes infinities and NaN for numbers beyond 65504
  const hn::RebindToUnsigned<D> bits;
  const auto half =
      hn::PromoteTo(bits, hn::LoadU(hn::Rebind<std::uint16_t, D>(), reinterpret_cast<const std::uint16_t*>(p)));
  const auto exponent = hn::Set(bits, 0x7c00);
  const auto special = hn::RebindMask(D(), hn::Eq(hn::And(half, exponent), exponent));
  return hn::IfThenElse(special, hn::Or(x, hn::BitCast(D(), hn::Set(bits, 0x7f800000))), x);
#endif
}

// scores[r][v] = sum over i of q[i][r] * k[v][i * k_stride ..]: R rows, NV vectors of keys.
template <int R, int NV, class T>
void score_panel(const float* HWY_RESTRICT q, std::int64_t d, const T* const* k, std::int64_t k_stride,
                 float* HWY_RESTRICT scores) {
  V sum[R][NV];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) sum[r][v] = hn::Zero(D());
  const T* key[NV];
  for (int v = 0; v < NV; ++v) key[v] = k[v];
  for (std::int64_t i = 0; i < d; ++i, q += R) {
    V x[NV];
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) x[v] = load(key[v] + i * k_stride);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const V w = hn::Set(D(), q[r]);
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) sum[r][v] = hn::MulAdd(w, x[v], sum[r][v]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) hn::StoreU(sum[r][v], D(), scores + r * score_stride + v * lanes);
}

// out[r][v] += sum over keys j in [begin, end) of weights[r][j] * values[j][v]; key j is row j % unit_keys of its unit.
template <int R, int NV, class T>
void value_panel(const float* HWY_RESTRICT weights, std::int64_t begin, std::int64_t end, const T* const* units,
                 std::int64_t element, std::int64_t stride, float* HWY_RESTRICT out, std::int64_t out_stride) {
  V sum[R][NV];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) sum[r][v] = hn::LoadU(D(), out + r * out_stride + v * lanes);
  for (std::int64_t j = begin; j < end;) {
    const T* row = units[j / unit_keys] + (j % unit_keys) * stride + element;
    const std::int64_t unit_end = HWY_MIN(end, (j / unit_keys + 1) * unit_keys);
    for (; j < unit_end; ++j, row += stride) {
      V x[NV];
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) x[v] = load(row + v * lanes);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        const V w = hn::Set(D(), weights[r * score_stride + j]);
#pragma GCC unroll 8
        for (int v = 0; v < NV; ++v) sum[r][v] = hn::MulAdd(w, x[v], sum[r][v]);
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) hn::StoreU(sum[r][v], D(), out + r * out_stride + v * lanes);
}

template <class T> using ScorePanel = void (*)(const float*, std::int64_t, const T* const*, std::int64_t, float*);
template <class T>
using ValuePanel = void (*)(const float*, std::int64_t, std::int64_t, const T* const*, std::int64_t, std::int64_t,
                            float*, std::int64_t);

template <class T> struct Panels {  // [rows - 1][vectors - 1]
  ScorePanel<T> score[panel_most][most_vectors];
  ValuePanel<T> value[panel_most][most_vectors];

  template <int R, int NV> constexpr void set() {
    score[R - 1][NV - 1] = score_panel<R, NV, T>;
    value[R - 1][NV - 1] = value_panel<R, NV, T>;
    if constexpr (NV > 1) set<R, NV - 1>();
    else if constexpr (R > 1) set<R - 1, most_vectors>();
  }
  constexpr Panels() : score{}, value{} { set<panel_most, most_vectors>(); }
};
template <class T> constexpr Panels<T> panels{};

}  // namespace
}  // namespace ridge::op::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
