// Writes this step's keys and values into their slots of a layer's state and returns its next version.
#pragma once
#include "ir/program.h"

namespace ridge::op {

extern const ir::OpInfo kv_store_op;

// state (blocks, 2, Hkv, block_size, d) f32 or f16 (kv_layout.h), k and v (T, Hkv * d) f32, slots (T) i32 -> state.
// A slot of -1 stores nothing (padding). Two tokens of a step never share a slot.
ir::Value kv_store(ir::Program& p, ir::Value state, ir::Value k, ir::Value v, ir::Value slots);

}  // namespace ridge::op
