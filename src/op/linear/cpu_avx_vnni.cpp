// 8 lanes, products of bytes summed by fours (AVX-VNNI).
#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "op/linear/cpu.h"
#include "op/linear/panel.h"
#include "tensor/blocks.h"

// After all other includes: code from elsewhere must not be compiled for this target, or the linker could give it to
// every caller.
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c,avxvnni"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c,avxvnni")
#endif

#define RIDGE_VNNI
#define RIDGE_TILE_TOKENS 4
#define RIDGE_PREFETCH 4096
namespace ridge::op::avx_vnni {
namespace {
// clang-format off
#include "op/linear/simd_avx2.h"
#include "op/linear/formats.h"  // over these vectors
#include "op/linear/tile.h"
// clang-format on
}  // namespace
}  // namespace ridge::op::avx_vnni

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace ridge::op {
std::span<const LinearKernels> avx_vnni_linear_kernels() { return avx_vnni::kernels; }
}  // namespace ridge::op
