// Root mean square layer normalization (Zhang and Sennrich 2019): y = x / sqrt(mean(x^2) + eps) * (weight + offset).
// Over groups of as many columns as the weight has: the whole row, or each head (Qwen3's q and k norms).
// With a residual, x + residual is normalized and handed on as the second output.
#pragma once
#include "ir/program.h"

namespace ridge::op {

struct RmsNormParams {
  float eps = 1e-5f;
  float offset = 0;  // Gemma: 1
};

extern const ir::OpInfo rms_norm_op;

// x (T, D), weight (G) with G dividing D -> (T, D). A pass may turn the output into q8_act.
ir::Value rms_norm(ir::Program& p, ir::Value x, ir::Value weight, RmsNormParams params);

// inputs {x, weight, residual} -> outputs {y, x + residual}: what the pass fuse_residual_norm records.

}  // namespace ridge::op
