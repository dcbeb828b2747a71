// The CPU kernels of `linear`: products of packed panels (op/linear/panel.h) with rows of activations.
//
// Every output element is summed in one fixed order: within 32 columns exactly, in integers (or over columns, with
// float activations), then over the parts of a row in order, by fused multiply-adds. So a result depends neither on how
// many rows of activations there are, nor on how panels and rows are split over calls, nor on the instructions used:
// all kernels of one activation type give bitwise the same.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "hw/isa.h"
#include "tensor/dtype.h"

namespace ridge::op {

enum class LinearIsa : std::uint8_t { scalar, avx2, avx_vnni, avx512, avx512_vnni };

struct LinearTask {
  const std::byte* panels;  // the whole packed matrix
  std::int64_t rows;        // of the matrix: outputs
  std::int64_t columns;
  const std::byte* x;                    // rows of activations: ActBlocks, or floats
  std::int64_t x_stride;                 // bytes from row to row
  float* out;                            // out[token * out_stride + row]
  std::int64_t out_stride;               // floats from row to row
  std::int64_t first_panel, last_panel;  // [first, last): what this call computes
  std::int64_t tokens;                   // rows of activations
};

using LinearKernel = void (*)(const LinearTask&);

struct LinearKernels {
  DType dtype;
  LinearKernel q8;   // activations in ActBlocks; null for plain types
  LinearKernel f32;  // activations in floats
};

std::span<const LinearKernels> linear_kernels(LinearIsa isa);    // one entry per weight type
const LinearKernels& linear_kernels(LinearIsa isa, DType type);  // Fault::bug where there are none
LinearIsa best_linear_isa(const hw::Isa& isa);                   // of what is allowed
std::string_view name(LinearIsa isa);

}  // namespace ridge::op
