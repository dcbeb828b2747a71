#include "base/error.h"
#include "op/device_matrix.h"
#include "tensor/planes.h"

namespace ridge::op {

DeviceMatrix device_matrix(const View& weight, std::int64_t index) {
  const DTypeInfo& type = info(weight.dtype);
  DeviceMatrix m{.rows = weight.dim(-2), .columns = weight.dim(-1)};
  m.row_blocks = (m.columns + type.block_elems - 1) / type.block_elems;
  if (is_block(weight.dtype)) {
    if (weight.layout != Layout::planes) fail_bug("a {} weight on the GPU that is not in planes", type.name);
    const Planes planes = planes_of(weight.dtype, m.rows * m.row_blocks);
    m.bytes = planes.bytes;
    for (int i = 0; i < 4; ++i) m.plane[i] = weight.data + index * m.bytes + planes.offset[std::size_t(i)];
  } else {
    m.bytes = m.rows * weight.row_bytes();
    m.plane[0] = weight.data + index * m.bytes;
  }
  return m;
}

void no_weight_type(DType type) { fail_bug("a weight of {} on the GPU", name(type)); }

}  // namespace ridge::op
