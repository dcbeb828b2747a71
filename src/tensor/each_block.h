// How the decoders and encoders walk a row. Blocks lie unaligned in files, so each is copied out and in.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ridge {

// Calls unpack(block, x) for each block of a row; x, its N values, then goes to the row.
template <class Block, int N, class F>
void decode_blocks(const std::byte* bytes, float* values, std::int64_t elems, F unpack) {
  for (std::int64_t first = 0; first < elems; first += N, bytes += sizeof(Block)) {
    Block block;
    std::memcpy(&block, bytes, sizeof block);
    float x[N];
    unpack(block, x);
    std::copy_n(x, std::min<std::int64_t>(N, elems - first), values + first);
  }
}

// Calls pack(x, block) for each N values of a row, the last ones padded with zeros; then stores the block.
template <class Block, int N, class F>
void encode_blocks(const float* values, std::byte* bytes, std::int64_t elems, F pack) {
  for (std::int64_t first = 0; first < elems; first += N, bytes += sizeof(Block)) {
    float x[N] = {};
    std::copy_n(values + first, std::min<std::int64_t>(N, elems - first), x);
    Block block{};
    pack(x, block);
    std::memcpy(bytes, &block, sizeof block);
  }
}

// Value i of a block of 32 with nibbles.
inline int nibble(const std::uint8_t* q, int i) { return i < 16 ? q[i] & 15 : q[i - 16] >> 4; }

// To an integer in low..high; NaN gives low. Conversion of what does not fit would be undefined.
inline float within(float f, float low, float high) { return f > low ? std::min(f, high) : low; }
inline int nearest(float f, int low, int high) {  // ties to even; |low| and |high| below 2^22
  return std::bit_cast<int>(within(f, float(low), float(high)) + 12582912.0f) - 0x4b400000;
}

}  // namespace ridge
