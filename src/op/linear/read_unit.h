// From a block as the file holds it to codes and scales, one row: the first half of packing (op/linear/panel.h).
#pragma once
#include <cstddef>
#include <cstdint>

#include "op/linear/panel.h"

namespace ridge::op {

struct RowUnit {  // one row's part of a unit; what the layout has no place for stays unset
  std::uint8_t code[256];
  std::uint16_t half[2];
  std::uint8_t side[2][8];  // [which][part]
};
using UnitReader = void (*)(const std::byte* block, RowUnit& out);

struct UnitFormat {
  PanelLayout layout;
  UnitReader read;
};
const UnitFormat* unit_format(DType type);  // null: not a block format that `linear` multiplies

}  // namespace ridge::op
