// A linear call with what stands around it: y = finish(W prepare(x)). What the pass fuse_linear records for GPUs, where
// the boundary of a small kernel costs more than its work.
#pragma once
#include "ir/program.h"
#include "op/silu_gate/silu_gate.h"

namespace ridge::op {

enum class Finish : std::uint8_t {
  none,  // each segment's rows are an output of their own
  add,   // one segment: residual + scale * (W x + bias)
  gate,  // two segments of equal rows: act(W_0 x) * (W_1 x)
};

struct FusedLinearParams {
  int segments = 1;
  bool norm = false;  // x is normalized first (RMSNorm over the row), with a weight of x's length
  float eps = 0, offset = 0;
  bool quantize = false;  // what W multiplies is rounded to int8 blocks first
  Finish finish = Finish::none;
  float scale = 1;
  GateKind gate = GateKind::silu;
};

// inputs {x, norm weight or absent, residual or absent, w_0 .. w_(n-1), bias_0 .. bias_(n-1)}; x (T, K) f32.
extern const ir::OpInfo fused_linear_op;

}  // namespace ridge::op
