// One value of an activation on the GPU: f32, or a quantized block's.
#pragma once
#include <cstdint>

#include "tensor/blocks.h"
#include "tensor/view.h"

namespace ridge::op {

struct DeviceRows {
  const std::byte* data;
  std::int64_t columns, row_bytes;
  bool q8;
  explicit DeviceRows(const View& v)
      : data(v.data), columns(v.columns()), row_bytes(v.row_bytes()), q8(v.dtype == DType::q8_act) {}
};

__device__ __forceinline__ float act_value(const DeviceRows& x, std::int64_t r, std::int64_t c) {
  const std::byte* row = x.data + r * x.row_bytes;
  if (!x.q8) return reinterpret_cast<const float*>(row)[c];
  const ActBlock& block = reinterpret_cast<const ActBlock*>(row)[c / 32];
  return block.d * float(block.q[c % 32]);
}

}  // namespace ridge::op
