#include "op/linear/pack_blocks.h"

#include <algorithm>
#include <cstring>

#include "tensor/blocks.h"

namespace ridge::op {
namespace {

// One row's part of a unit, as 4-byte lanes of the panel's vectors (op/linear/panel.h). What a layout has no place for
// stays unset.
struct RowUnit {
  std::uint32_t low[8][8];  // [part][vector]
  std::uint32_t high[8][2];
  std::uint16_t half[2];
  std::uint8_t side[2][8];  // [which][part]
};

// 32 consecutive bytes, 4 to a word, so that each step below works on 4 codes at once.
struct Words {
  std::uint32_t at[8];
  explicit Words(const std::uint8_t* bytes) { std::memcpy(at, bytes, sizeof at); }
};

// 4-bit codes, each in bits `shift` and up of a byte: groups j and j + 4 share a vector.
void take_nibbles(const Words& w, int shift, std::uint32_t* low) {
  for (int j = 0; j < 4; ++j) low[j] = (w.at[j] >> shift & 0x0f0f0f0fu) | (w.at[j + 4] >> shift & 0x0f0f0f0fu) << 4;
}
// Two bits of each byte: groups 4 j to 4 j + 3 share a vector.
void take_two_bits(const Words& w, int shift, std::uint32_t* to) {
  for (int j = 0; j < 2; ++j) {
    to[j] = 0;
    for (int i = 0; i < 4; ++i) to[j] |= (w.at[4 * j + i] >> shift & 0x03030303u) << 2 * i;
  }
}
// One bit of each byte: all groups share a vector.
void take_bit(const Words& w, int shift, std::uint32_t* to) {
  *to = 0;
  for (int g = 0; g < 8; ++g) *to |= (w.at[g] >> shift & 0x01010101u) << g;
}
// Bit i of `bits` is that of code i = 4 g + b: to bit g of byte b.
void take_packed_bits(std::uint32_t bits, std::uint32_t* to) {
  *to = 0;
  for (int b = 0; b < 4; ++b) {
    std::uint32_t every_fourth = bits >> b & 0x11111111u;
    every_fourth = (every_fourth | every_fourth >> 3) & 0x03030303u;
    every_fourth = (every_fourth | every_fourth >> 6) & 0x000f000fu;
    *to |= ((every_fourth | every_fourth >> 12) & 0xffu) << 8 * b;
  }
}

// Blocks of 32. Elements i and i + 16 share a byte in the file as groups j and j + 4 do in the panel: a plain copy.
void read(const BlockQ8_0& b, RowUnit& out) {
  out.half[0] = b.d;
  std::memcpy(out.low[0], b.q, sizeof b.q);
  for (std::uint32_t& four : out.low[0]) four ^= 0x80808080u;
}
void read(const BlockQ4_0& b, RowUnit& out) {
  out.half[0] = b.d;
  std::memcpy(out.low[0], b.q, sizeof b.q);
}
void read(const BlockQ4_1& b, RowUnit& out) {
  out.half[0] = b.d, out.half[1] = b.m;
  std::memcpy(out.low[0], b.q, sizeof b.q);
}
void read_five_bits(const std::uint8_t (&q)[16], const std::uint8_t (&high)[4], RowUnit& out) {
  std::memcpy(out.low[0], q, sizeof q);
  std::uint32_t bits;
  std::memcpy(&bits, high, sizeof bits);
  take_packed_bits(bits, out.high[0]);
}
void read(const BlockQ5_0& b, RowUnit& out) {
  out.half[0] = b.d;
  read_five_bits(b.q, b.high, out);
}
void read(const BlockQ5_1& b, RowUnit& out) {
  out.half[0] = b.d, out.half[1] = b.m;
  read_five_bits(b.q, b.high, out);
}
void read(const BlockIq4Nl& b, RowUnit& out) {
  out.half[0] = b.d;
  std::memcpy(out.low[0], b.q, sizeof b.q);
}
void read(const BlockMxfp4& b, RowUnit& out) {
  out.side[0][0] = b.e;
  std::memcpy(out.low[0], b.q, sizeof b.q);
}

// Blocks of 256: 8 parts, where tensor/blocks.h says each value is.
void read(const BlockQ2K& b, RowUnit& out) {
  out.half[0] = b.d, out.half[1] = b.m;
  for (int part = 0; part < 8; ++part) {
    take_two_bits(Words(b.q + part / 4 * 32), part % 4 * 2, out.low[part]);
    for (int h = 0; h < 2; ++h) out.side[h][part] = b.scales[2 * part + h];
  }
}
void read(const BlockQ3K& b, RowUnit& out) {
  out.half[0] = b.d;
  const Words high(b.high);
  for (int part = 0; part < 8; ++part) {
    take_two_bits(Words(b.q + part / 4 * 32), part % 4 * 2, out.low[part]);
    take_bit(high, part, out.high[part]);
    for (int h = 0; h < 2; ++h) out.side[h][part] = std::uint8_t(q3_scale(b.scales, 2 * part + h) - 32);
  }
}
template <class Block> void read_q4_k_part(const Block& b, int part, RowUnit& out) {
  out.side[0][part] = std::uint8_t(k_scale(b.scales, part));
  out.side[1][part] = std::uint8_t(k_minimum(b.scales, part));
  take_nibbles(Words(b.q + part / 2 * 32), part % 2 * 4, out.low[part]);
}
void read(const BlockQ4K& b, RowUnit& out) {
  out.half[0] = b.d, out.half[1] = b.m;
  for (int part = 0; part < 8; ++part) read_q4_k_part(b, part, out);
}
void read(const BlockQ5K& b, RowUnit& out) {
  out.half[0] = b.d, out.half[1] = b.m;
  const Words high(b.high);
  for (int part = 0; part < 8; ++part) {
    read_q4_k_part(b, part, out);
    take_bit(high, part, out.high[part]);
  }
}
void read(const BlockQ6K& b, RowUnit& out) {
  out.half[0] = b.d;
  for (int part = 0; part < 8; ++part) {
    take_nibbles(Words(b.q + part / 4 * 64 + part % 2 * 32), part % 4 / 2 * 4, out.low[part]);
    take_two_bits(Words(b.high + part / 4 * 32), part % 4 * 2, out.high[part]);
    for (int h = 0; h < 2; ++h) out.side[h][part] = std::uint8_t(b.scales[2 * part + h]);
  }
}
void read(const BlockIq4Xs& b, RowUnit& out) {
  out.half[0] = b.d;
  for (int part = 0; part < 8; ++part) {
    const int scale = (b.scales_low[part / 2] >> part % 2 * 4 & 15) | (b.scales_high >> part * 2 & 3) << 4;
    out.side[0][part] = std::uint8_t(scale - 32);
    std::memcpy(out.low[part], b.q + 16 * part, 16);
  }
}

template <const PanelLayout& L> void put_unit(const RowUnit& u, int row, std::byte* unit) {
  for (int h = 0; h < L.halves; ++h) std::memcpy(unit + 2 * (panel_rows * h + row), &u.half[h], sizeof u.half[h]);
  for (int part = 0; part < L.parts(); ++part) {
    std::byte* low = unit + L.header_bytes() + part * L.part_bytes();
    std::byte* high = low + L.low_bytes();
    std::byte* side = high + L.high_bytes();
    for (int j = 0; j < L.low_bits; ++j) std::memcpy(low + 64 * j + 4 * row, &u.low[part][j], 4);
    for (int j = 0; j < L.high_bits; ++j) std::memcpy(high + 64 * j + 4 * row, &u.high[part][j], 4);
    for (int s = 0; s < L.side; ++s) side[panel_rows * s + row] = std::byte(u.side[s][part]);
  }
}

template <const PanelLayout& L, class Block>
void pack(const std::byte* rows, std::int64_t row_size, int count, std::byte* panel) {
  const std::int64_t units = row_size / std::int64_t(sizeof(Block));
  const bool aligned = reinterpret_cast<std::uintptr_t>(rows) % alignof(Block) == 0;  // files may put a tensor anywhere
  if (count < panel_rows) std::memset(panel, 0, std::size_t(units * L.unit_bytes()));
  RowUnit unit;
  for (int r = 0; r < count; ++r)
    for (std::int64_t u = 0; u < units; ++u, rows += sizeof(Block)) {
      if (aligned) {
        read(*reinterpret_cast<const Block*>(rows), unit);  // twice as fast as through the copy
      } else {
        Block copy;
        std::memcpy(&copy, rows, sizeof copy);
        read(copy, unit);
      }
      put_unit<L>(unit, r, panel + u * L.unit_bytes());
    }
}

constexpr BlockPacker packers[] = {
    {q8_0_layout, pack<q8_0_layout, BlockQ8_0>},      {q4_0_layout, pack<q4_0_layout, BlockQ4_0>},
    {q4_1_layout, pack<q4_1_layout, BlockQ4_1>},      {q5_0_layout, pack<q5_0_layout, BlockQ5_0>},
    {q5_1_layout, pack<q5_1_layout, BlockQ5_1>},      {q2_k_layout, pack<q2_k_layout, BlockQ2K>},
    {q3_k_layout, pack<q3_k_layout, BlockQ3K>},       {q4_k_layout, pack<q4_k_layout, BlockQ4K>},
    {q5_k_layout, pack<q5_k_layout, BlockQ5K>},       {q6_k_layout, pack<q6_k_layout, BlockQ6K>},
    {iq4_nl_layout, pack<iq4_nl_layout, BlockIq4Nl>}, {iq4_xs_layout, pack<iq4_xs_layout, BlockIq4Xs>},
    {mxfp4_layout, pack<mxfp4_layout, BlockMxfp4>},
};

}  // namespace

const BlockPacker* block_packer(DType type) {
  for (const BlockPacker& p : packers)
    if (p.layout.dtype == type) return &p;
  return nullptr;
}

}  // namespace ridge::op
