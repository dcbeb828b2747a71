// rope of q, rope of k and kv_store as one call: what the pass fuse_rope_store records for GPUs, where three small
// kernels cost three boundaries.
#pragma once
#include "ir/program.h"

namespace ridge::op {

// inputs {q, k, v, angles, slots, state} as rope and kv_store take them -> {q rotated, the state's next version}.
// Parameters: RopeParams (op/rope/rope.h).
extern const ir::OpInfo rope_store_op;

}  // namespace ridge::op
