// What a step is told: the inputs that every family's forward reads, recorded once a program.
#pragma once
#include <vector>

#include "ir/program.h"
#include "op/attention/attention.h"
#include "op/kv_store/kv_store.h"

namespace ridge::model {

struct Batch {
  ir::Value tokens;           // (T) i32: ids, each below the vocabulary's size
  ir::Value positions;        // (T) i32: place in its own sequence
  ir::Value slots;            // (T) i32: where the pool keeps its key and value (op/kv_store/kv_layout.h)
  ir::Value wanted;           // (R) i32: rows whose logits are wanted
  op::Sequences sequences;    // (B + 1), (B), (B, most blocks) i32
  std::vector<ir::Value> kv;  // each layer's state, its newest version
  std::int64_t context = 0;   // the longest sequence that will be run

  // This layer's state for attention, after k and v are stored in it.
  ir::Value store(ir::Program& p, std::size_t layer, ir::Value k, ir::Value v) {
    return kv[layer] = op::kv_store(p, kv[layer], k, v, slots);
  }
};

}  // namespace ridge::model
