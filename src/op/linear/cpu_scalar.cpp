// One lane, plain C++: for processors without AVX2, and what the other kernels are compared with.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "op/linear/cpu.h"
#include "op/linear/panel.h"
#include "tensor/blocks.h"
#include "tensor/float16.h"

#define RIDGE_TILE_TOKENS 4
#define RIDGE_PREFETCH 4096
namespace ridge::op::scalar {
namespace {
// clang-format off
#include "op/linear/simd_scalar.h"
#include "op/linear/formats.h"  // over these vectors
#include "op/linear/tile.h"
// clang-format on

template <class W> void decode_row(const std::byte* panel, int row, std::int64_t columns, float* values) {
  constexpr const PanelLayout& l = W::layout;
  for (std::int64_t k = 0; k < columns; k += 32) {
    Part<W::halves> w;
    unpack<W>(panel + k / l.columns * l.unit_bytes(), int(k % l.columns / 32), row, w);
    const int count = int(std::min<std::int64_t>(32, columns - k));
    for (int i = 0; i < count; ++i) {
      const int half = W::halves == 2 ? i / 16 : 0;
      const F scale = w.scale[half], code = float(w.code[i / 4] >> i % 4 * 8 & 255);
      values[k + i] = W::has_minimum ? fma(code, scale, w.shift[half]) : (code - float(W::offset)) * scale;
    }
  }
}

template <class W> void decode_plain_row(const std::byte* panel, int row, std::int64_t columns, float* values) {
  for (std::int64_t k = 0; k < columns; ++k) values[k] = W::values(panel + (k * panel_rows + row) * W::bytes);
}

using RowDecoder = void (*)(const std::byte*, int, std::int64_t, float*);
RowDecoder row_decoder(DType type) {
  switch (type) {
    case DType::f32: return decode_plain_row<F32>;
    case DType::f16: return decode_plain_row<F16>;
    case DType::bf16: return decode_plain_row<BF16>;
    case DType::f8_e4m3: return decode_plain_row<F8>;
    case DType::q8_0: return decode_row<Q8_0>;
    case DType::q4_0: return decode_row<Q4_0>;
    case DType::q4_1: return decode_row<Q4_1>;
    case DType::q5_0: return decode_row<Q5_0>;
    case DType::q5_1: return decode_row<Q5_1>;
    case DType::q2_k: return decode_row<Q2_K>;
    case DType::q3_k: return decode_row<Q3_K>;
    case DType::q4_k: return decode_row<Q4_K>;
    case DType::q5_k: return decode_row<Q5_K>;
    case DType::q6_k: return decode_row<Q6_K>;
    case DType::iq4_nl: return decode_row<IQ4_NL>;
    case DType::iq4_xs: return decode_row<IQ4_XS>;
    case DType::mxfp4: return decode_row<MXFP4>;
    default: return nullptr;
  }
}
}  // namespace
}  // namespace ridge::op::scalar

namespace ridge::op {

std::span<const LinearKernels> scalar_linear_kernels() { return scalar::kernels; }

void decode_panel_row(const std::byte* panels, DType type, std::int64_t columns, std::int64_t row, float* values) {
  const scalar::RowDecoder decode = scalar::row_decoder(type);
  if (!decode) fail_bug("decode_panel_row: no panels of {}", name(type));
  decode(panels + row / panel_rows * panel_bytes(type, columns), int(row % panel_rows), columns, values);
}

}  // namespace ridge::op
