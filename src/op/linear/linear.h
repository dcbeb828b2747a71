// y = x W^T (+ bias). A call may hold several weights over the same x: merged q/k/v, gate/up, a file's mixture of
// block types, or a shard's rows are lists of segments, each with its own dtype and its own output, never
// concatenated copies.
#pragma once
#include "ir/program.h"

namespace ridge::op {

struct LinearParams {
  int segments = 1;  // inputs are {x, w_0 .. w_(n-1), bias_0 .. bias_(n-1)}; absent biases are absent values
};

extern const ir::OpInfo linear_op;

// x (T, K) f32 or q8_act, weight (N, K) of any dtype that decodes, bias (N) or absent -> (T, N) f32
ir::Value linear(ir::Program& p, ir::Value x, ir::Value weight, ir::Value bias = {});

}  // namespace ridge::op
