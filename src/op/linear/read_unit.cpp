#include "op/linear/read_unit.h"

#include <cstring>

#include "tensor/blocks.h"

namespace ridge::op {
namespace {

template <class Block> Block block_at(const std::byte* bytes) {
  Block block;
  std::memcpy(&block, bytes, sizeof block);
  return block;
}

// 16 bytes hold elements i and i + 16 in their low and high nibbles.
void split_nibbles(const std::uint8_t* q, std::uint8_t* code) {
  for (int i = 0; i < 16; ++i) code[i] = q[i] & 15, code[i + 16] = q[i] >> 4;
}

void read_q8_0(const std::byte* bytes, RowUnit& out) {
  const auto b = block_at<BlockQ8_0>(bytes);
  out.half[0] = b.d;
  for (int i = 0; i < 32; ++i) out.code[i] = std::uint8_t(b.q[i]) ^ 0x80;
}
void read_q4_0(const std::byte* bytes, RowUnit& out) {
  const auto b = block_at<BlockQ4_0>(bytes);
  out.half[0] = b.d;
  split_nibbles(b.q, out.code);
}
void read_q4_1(const std::byte* bytes, RowUnit& out) {
  const auto b = block_at<BlockQ4_1>(bytes);
  out.half[0] = b.d, out.half[1] = b.m;
  split_nibbles(b.q, out.code);
}

void read_iq4_nl(const std::byte* bytes, RowUnit& out) {
  const auto b = block_at<BlockIq4Nl>(bytes);
  out.half[0] = b.d;
  split_nibbles(b.q, out.code);
}
void read_mxfp4(const std::byte* bytes, RowUnit& out) {
  const auto b = block_at<BlockMxfp4>(bytes);
  out.side[0][0] = b.e;
  split_nibbles(b.q, out.code);
}

void add_fifth_bits(const std::uint8_t (&high)[4], std::uint8_t* code) {
  for (int i = 0; i < 32; ++i) code[i] = std::uint8_t(code[i] | (high[i / 8] >> (i % 8) & 1) << 4);
}
void read_q5_0(const std::byte* bytes, RowUnit& out) {
  const auto b = block_at<BlockQ5_0>(bytes);
  out.half[0] = b.d;
  split_nibbles(b.q, out.code);
  add_fifth_bits(b.high, out.code);
}
void read_q5_1(const std::byte* bytes, RowUnit& out) {
  const auto b = block_at<BlockQ5_1>(bytes);
  out.half[0] = b.d, out.half[1] = b.m;
  split_nibbles(b.q, out.code);
  add_fifth_bits(b.high, out.code);
}

// Bits `shift` and `shift` + 1 of each of 32 bytes, put at `to`.
void two_bits(const std::uint8_t* q, int shift, int to, std::uint8_t* code) {
  for (int i = 0; i < 32; ++i) code[i] = std::uint8_t(code[i] | (q[i] >> shift & 3) << to);
}
void nibbles_of_part(const std::uint8_t* q, int shift, std::uint8_t* code) {
  for (int i = 0; i < 32; ++i) code[i] = q[i] >> shift & 15;
}

void read_q2_k(const std::byte* bytes, RowUnit& out) {
  const auto b = block_at<BlockQ2K>(bytes);
  out.half[0] = b.d, out.half[1] = b.m;
  std::memset(out.code, 0, sizeof out.code);
  for (int part = 0; part < 8; ++part) {
    two_bits(b.q + 32 * (part / 4), 2 * (part % 4), 0, out.code + 32 * part);
    for (int h = 0; h < 2; ++h) out.side[h][part] = b.scales[2 * part + h];
  }
}
void read_q3_k(const std::byte* bytes, RowUnit& out) {
  const auto b = block_at<BlockQ3K>(bytes);
  out.half[0] = b.d;
  std::memset(out.code, 0, sizeof out.code);
  for (int part = 0; part < 8; ++part) {
    std::uint8_t* code = out.code + 32 * part;
    two_bits(b.q + 32 * (part / 4), 2 * (part % 4), 0, code);
    for (int i = 0; i < 32; ++i) code[i] = std::uint8_t(code[i] | (b.high[i] >> part & 1) << 2);
    for (int h = 0; h < 2; ++h) out.side[h][part] = std::uint8_t(q3_scale(b.scales, 2 * part + h) - 32);
  }
}
template <class Block> void read_scales_and_minimums(const Block& b, RowUnit& out) {
  out.half[0] = b.d, out.half[1] = b.m;
  for (int part = 0; part < 8; ++part) {
    out.side[0][part] = std::uint8_t(k_scale(b.scales, part));
    out.side[1][part] = std::uint8_t(k_minimum(b.scales, part));
    nibbles_of_part(b.q + 32 * (part / 2), 4 * (part % 2), out.code + 32 * part);
  }
}
void read_q4_k(const std::byte* bytes, RowUnit& out) { read_scales_and_minimums(block_at<BlockQ4K>(bytes), out); }
void read_q5_k(const std::byte* bytes, RowUnit& out) {
  const auto b = block_at<BlockQ5K>(bytes);
  read_scales_and_minimums(b, out);
  for (int i = 0; i < 256; ++i) out.code[i] = std::uint8_t(out.code[i] | (b.high[i % 32] >> (i / 32) & 1) << 4);
}
void read_q6_k(const std::byte* bytes, RowUnit& out) {
  const auto b = block_at<BlockQ6K>(bytes);
  out.half[0] = b.d;
  for (int part = 0; part < 8; ++part) {
    std::uint8_t* code = out.code + 32 * part;
    nibbles_of_part(b.q + 64 * (part / 4) + 32 * (part % 2), 4 * (part % 4 / 2), code);
    two_bits(b.high + 32 * (part / 4), 2 * (part % 4), 4, code);
    for (int h = 0; h < 2; ++h) out.side[h][part] = std::uint8_t(b.scales[2 * part + h]);
  }
}
void read_iq4_xs(const std::byte* bytes, RowUnit& out) {
  const auto b = block_at<BlockIq4Xs>(bytes);
  out.half[0] = b.d;
  for (int part = 0; part < 8; ++part) {
    const int scale = (b.scales_low[part / 2] >> (4 * (part % 2)) & 15) | (b.scales_high >> (2 * part) & 3) << 4;
    out.side[0][part] = std::uint8_t(scale - 32);
    split_nibbles(b.q + 16 * part, out.code + 32 * part);
  }
}

constexpr UnitFormat formats[] = {
    {q8_0_layout, read_q8_0}, {q4_0_layout, read_q4_0},     {q4_1_layout, read_q4_1},     {q5_0_layout, read_q5_0},
    {q5_1_layout, read_q5_1}, {q2_k_layout, read_q2_k},     {q3_k_layout, read_q3_k},     {q4_k_layout, read_q4_k},
    {q5_k_layout, read_q5_k}, {q6_k_layout, read_q6_k},     {iq4_nl_layout, read_iq4_nl}, {iq4_xs_layout, read_iq4_xs},
    {mxfp4_layout, read_mxfp4},
};

}  // namespace

const UnitFormat* unit_format(DType type) {
  for (const UnitFormat& f : formats)
    if (f.layout.dtype == type) return &f;
  return nullptr;
}

}  // namespace ridge::op
