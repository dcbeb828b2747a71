// Activations to int8 blocks (q8_act), for products with quantized weights. Recorded by the pass quantize_activations,
// not by models; mostly folded into its producer by fuse_quantize.
#pragma once
#include "ir/program.h"

namespace ridge::op {

extern const ir::OpInfo quantize_op;

// x (T, D) f32 -> (T, D) q8_act
ir::Value quantize(ir::Program& p, ir::Value x);

}  // namespace ridge::op
