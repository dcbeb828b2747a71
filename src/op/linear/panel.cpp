#include "op/linear/panel.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "op/linear/pack_blocks.h"

namespace ridge::op {
namespace {

// 16 rows of `size` bytes an element become columns of 16.
template <class Bits> void pack_plain_panel(const std::byte* rows, std::int64_t columns, int count, std::byte* to) {
  if (count < panel_rows) std::memset(to, 0, std::size_t(columns) * panel_rows * sizeof(Bits));
  for (int r = 0; r < count; ++r)
    for (std::int64_t k = 0; k < columns; ++k)
      std::memcpy(to + (k * panel_rows + r) * std::int64_t(sizeof(Bits)),
                  rows + (r * columns + k) * std::int64_t(sizeof(Bits)), sizeof(Bits));
}

}  // namespace

bool has_panels(DType type) {
  return type == DType::f32 || type == DType::f16 || type == DType::bf16 || type == DType::f8_e4m3 ||
         block_packer(type) != nullptr;
}

std::int64_t panel_count(std::int64_t rows) { return (rows + panel_rows - 1) / panel_rows; }

std::int64_t panel_bytes(DType type, std::int64_t columns) {
  const BlockPacker* packer = block_packer(type);
  if (!packer) return columns * info(type).block_bytes * panel_rows;
  const PanelLayout& l = packer->layout;
  return (columns + l.columns - 1) / l.columns * l.unit_bytes();
}

std::int64_t packed_bytes(DType type, std::int64_t rows, std::int64_t columns) {
  return panel_count(rows) * panel_bytes(type, columns);
}

void pack_panels(const Matrix& m, std::int64_t first, std::int64_t last, std::byte* panels) {
  if (!has_panels(m.dtype)) fail_bug("pack_panels: no panels of {}", name(m.dtype));
  const BlockPacker* packer = block_packer(m.dtype);
  const std::int64_t row_size = row_bytes(m.dtype, m.columns);
  for (std::int64_t panel = first; panel < last; ++panel) {
    const std::byte* rows = m.data + panel * panel_rows * row_size;
    std::byte* to = panels + panel * panel_bytes(m.dtype, m.columns);
    const int count = int(std::min<std::int64_t>(panel_rows, m.rows - panel * panel_rows));
    if (packer) packer->pack(rows, row_size, count, to);
    else if (info(m.dtype).block_bytes == 4) pack_plain_panel<std::uint32_t>(rows, m.columns, count, to);
    else if (info(m.dtype).block_bytes == 2) pack_plain_panel<std::uint16_t>(rows, m.columns, count, to);
    else pack_plain_panel<std::uint8_t>(rows, m.columns, count, to);
  }
}

}  // namespace ridge::op
