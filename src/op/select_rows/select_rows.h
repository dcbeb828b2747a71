// The rows whose logits are wanted: out[r] = x[rows[r]].
#pragma once
#include "ir/program.h"

namespace ridge::op {

extern const ir::OpInfo select_rows_op;

// x (T, D) f32, rows (R) i32 -> (R, D) f32
ir::Value select_rows(ir::Program& p, ir::Value x, ir::Value rows);

}  // namespace ridge::op
