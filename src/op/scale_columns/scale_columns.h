// y = x * scale + bias, column by column: what follows a product with weights that are stored with a scale for each
// output, or for all (FP8 checkpoints).
#pragma once
#include "ir/program.h"

namespace ridge::op {

extern const ir::OpInfo scale_columns_op;

// x (T, N) f32, scale (N) or (1) f32, bias (N) f32 or absent -> (T, N).
ir::Value scale_columns(ir::Program& p, ir::Value x, ir::Value scale, ir::Value bias = {});

}  // namespace ridge::op
