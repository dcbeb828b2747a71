#include "op/linear/panel.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "op/linear/read_unit.h"

namespace ridge::op {
namespace {


std::uint32_t four(const std::uint8_t* codes) {
  std::uint32_t v;
  std::memcpy(&v, codes, sizeof v);
  return v;
}
void put(std::byte* lane, std::uint32_t v) { std::memcpy(lane, &v, sizeof v); }

// The low bits of 32 codes; `lane` is this row's place in the first vector.
void put_low(const std::uint8_t* codes, int bits, std::byte* lane) {
  if (bits == 8)
    for (int g = 0; g < 8; ++g) put(lane + 64 * g, four(codes + 4 * g));
  if (bits == 4)
    for (int j = 0; j < 4; ++j)
      put(lane + 64 * j, (four(codes + 4 * j) & 0x0f0f0f0fu) | (four(codes + 4 * j + 16) & 0x0f0f0f0fu) << 4);
  if (bits == 2)
    for (int j = 0; j < 2; ++j) {
      std::uint32_t v = 0;
      for (int i = 0; i < 4; ++i) v |= (four(codes + 16 * j + 4 * i) & 0x03030303u) << (2 * i);
      put(lane + 64 * j, v);
    }
}

// The bits above the `low` low ones.
void put_high(const std::uint8_t* codes, int low, int bits, std::byte* lane) {
  if (bits == 0) return;
  const std::uint32_t mask = 0x01010101u * ((1u << bits) - 1);
  const int per_vector = 8 / bits;
  for (int j = 0; j < bits; ++j) {
    std::uint32_t v = 0;
    for (int i = 0; i < per_vector; ++i) v |= (four(codes + 4 * (per_vector * j + i)) >> low & mask) << (bits * i);
    put(lane + 64 * j, v);
  }
}

void put_unit(const RowUnit& u, const PanelLayout& l, int row, std::byte* unit) {
  for (int h = 0; h < l.halves; ++h) std::memcpy(unit + 2 * (panel_rows * h + row), &u.half[h], sizeof u.half[h]);
  for (int part = 0; part < l.parts(); ++part) {
    std::byte* to = unit + l.header_bytes() + part * l.part_bytes();
    put_low(u.code + 32 * part, l.low_bits, to + 4 * row);
    put_high(u.code + 32 * part, l.low_bits, l.high_bits, to + l.low_bytes() + 4 * row);
    for (int s = 0; s < l.side; ++s) to[l.low_bytes() + l.high_bytes() + panel_rows * s + row] = std::byte(u.side[s][part]);
  }
}

void pack_block_panel(const Matrix& m, const PanelLayout& l, const UnitReader read, std::int64_t panel, std::byte* unit) {
  const std::int64_t row_size = row_bytes(m.dtype, m.columns), block_bytes = info(m.dtype).block_bytes;
  const int rows = int(std::min<std::int64_t>(panel_rows, m.rows - panel * panel_rows));
  const std::byte* first = m.data + panel * panel_rows * row_size;
  RowUnit codes;
  for (std::int64_t at = 0; at < row_size; at += block_bytes, unit += l.unit_bytes()) {
    if (rows < panel_rows) std::memset(unit, 0, std::size_t(l.unit_bytes()));
    for (int r = 0; r < rows; ++r) {
      read(first + r * row_size + at, codes);
      put_unit(codes, l, r, unit);
    }
  }
}

void pack_plain_panel(const Matrix& m, std::int64_t panel, std::byte* to) {
  const std::int64_t size = info(m.dtype).block_bytes, row_size = m.columns * size;
  const int rows = int(std::min<std::int64_t>(panel_rows, m.rows - panel * panel_rows));
  const std::byte* first = m.data + panel * panel_rows * row_size;
  if (rows < panel_rows) std::memset(to, 0, std::size_t(panel_rows * row_size));
  for (std::int64_t k = 0; k < m.columns; ++k)
    for (int r = 0; r < rows; ++r) std::memcpy(to + (k * panel_rows + r) * size, first + r * row_size + k * size, std::size_t(size));
}

}  // namespace

bool has_panels(DType type) {
  return type == DType::f32 || type == DType::f16 || type == DType::bf16 || type == DType::f8_e4m3 || unit_format(type) != nullptr;
}

std::int64_t panel_count(std::int64_t rows) { return (rows + panel_rows - 1) / panel_rows; }

std::int64_t panel_bytes(DType type, std::int64_t columns) {
  const UnitFormat* format = unit_format(type);
  if (!format) return columns * info(type).block_bytes * panel_rows;
  const PanelLayout& l = format->layout;
  return (columns + l.columns - 1) / l.columns * l.unit_bytes();
}

std::int64_t packed_bytes(DType type, std::int64_t rows, std::int64_t columns) {
  return panel_count(rows) * panel_bytes(type, columns);
}

void pack_panels(const Matrix& m, std::int64_t first, std::int64_t last, std::byte* panels) {
  if (!has_panels(m.dtype)) fail_bug("pack_panels: no panels of {}", name(m.dtype));
  const UnitFormat* format = unit_format(m.dtype);
  for (std::int64_t panel = first; panel < last; ++panel) {
    std::byte* to = panels + panel * panel_bytes(m.dtype, m.columns);
    if (format) pack_block_panel(m, format->layout, format->read, panel, to);
    else pack_plain_panel(m, panel, to);
  }
}

}  // namespace ridge::op
