// Few rows of x (f32) times block-quantized weights, with what stands around the product, in one launch: x is
// normalized (where a norm is given) and rounded to int8 blocks by the kernel itself, as q8_act is.
#pragma once
#include "op/linear/cuda_kernels.h"

namespace ridge::op {

// Whether weights of these types may be bound. Two segments may be gate and gated: they have one type. Segments of q, k
// and v may differ: a launch for each type.
bool fused_blocks_fits(std::span<const DType> weights, std::int64_t columns, std::int64_t tokens, int arch);
// b: x is in[0]; the outputs are the segments' or, of gates, one. At most 8 segments. No empty segments.
void fused_blocks_cuda(const ir::CudaBound& b, std::span<const View> weights, std::span<const View> biases,
                       const Around& around);

}  // namespace ridge::op
