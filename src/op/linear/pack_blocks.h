// Packing of block formats: one row of op/linear/pack_blocks.cpp's table per format.
#pragma once
#include <cstddef>
#include <cstdint>

#include "op/linear/panel.h"

namespace ridge::op {

struct BlockPacker {
  PanelLayout layout;
  // Packs `count` rows, `row_size` bytes each and one after the other, to a panel.
  void (*pack)(const std::byte* rows, std::int64_t row_size, int count, std::byte* panel);
};
const BlockPacker* block_packer(DType type);  // null: not a block format that `linear` multiplies

}  // namespace ridge::op
