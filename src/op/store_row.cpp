#include "op/store_row.h"

#include <cstring>

#include "tensor/quantize_act.h"

namespace ridge::op {

void store_row(const float* values, const View& out, std::int64_t t) {
  if (out.dtype == DType::q8_act) quantize_row(values, out.columns(), out.row(t));
  else if (out.row_as<float>(t) != values) std::memcpy(out.row(t), values, std::size_t(out.columns()) * sizeof(float));
}

}  // namespace ridge::op
