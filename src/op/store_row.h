// The tail of every op whose output a pass may have turned into quantized activations.
#pragma once
#include "tensor/view.h"

namespace ridge::op {

// Stores out.columns() values as row t of `out`, which is f32 or q8_act.
void store_row(const float* values, const View& out, std::int64_t t);

}  // namespace ridge::op
