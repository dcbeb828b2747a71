// A matrix as GPU kernels get it: rows of a plain type, or the planes of a block format (tensor/planes.h).
#pragma once
#include <cstdint>

#include "tensor/view.h"

namespace ridge::op {

struct DeviceMatrix {
  const std::byte* plane[4] = {};
  std::int64_t rows = 0, columns = 0, row_blocks = 0;  // row_blocks: blocks (plain types: elements) of a row
  std::int64_t bytes = 0;                              // of the whole matrix
};

DeviceMatrix device_matrix(const View& weight, std::int64_t index = 0);  // of rank 3: its matrix `index`

[[noreturn]] void no_weight_type(DType type);

}  // namespace ridge::op
