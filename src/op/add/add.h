// out = a + scale * b: the residual.
#pragma once
#include "ir/program.h"

namespace ridge::op {

struct AddParams {
  float scale = 1;  // Granite's residual multiplier
};

extern const ir::OpInfo add_op;

// a and b (T, D) f32 -> (T, D) f32
ir::Value add(ir::Program& p, ir::Value a, ir::Value b, AddParams params = {});

}  // namespace ridge::op
