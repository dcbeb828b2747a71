// Layer normalization (Ba et al. 2016): y = (x - mean(x)) / sqrt(var(x) + eps) * weight + bias, over each row.
#pragma once
#include "ir/program.h"

namespace ridge::op {

struct LayerNormParams {
  float eps = 1e-5f;
};

extern const ir::OpInfo layer_norm_op;

// x (T, D) f32, weight (D) f32, bias (D) f32 or absent -> (T, D). A pass may turn the output into q8_act.
ir::Value layer_norm(ir::Program& p, ir::Value x, ir::Value weight, ir::Value bias, LayerNormParams params);

}  // namespace ridge::op
