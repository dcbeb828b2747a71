// How a block-quantized matrix lies on a GPU: blocks of 18 or 210 bytes cannot be loaded 16 bytes at a time, so each
// field of the block (its scales, its low bits, its high bits) gets a plane of its own, in which row r, block b is at
// (r * blocks of a row + b) * bytes of the field. All bytes are the file's, none is added but to align the planes.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "tensor/view.h"

namespace ridge {

struct PlaneFields {
  int count = 0;
  std::array<int, 4> bytes{};  // of each field, in the order of the block's struct (tensor/blocks.h)
  bool operator==(const PlaneFields&) const = default;
};

// The fields of a block format; none for plain types, which lie in rows.
constexpr PlaneFields plane_fields(DType type) {
  switch (type) {
    case DType::q8_0: return {2, {2, 32}};           // d, q
    case DType::q4_0: return {2, {2, 16}};           // d, q
    case DType::q4_1: return {2, {4, 16}};           // d m, q
    case DType::q5_0: return {3, {2, 4, 16}};        // d, high, q
    case DType::q5_1: return {3, {4, 4, 16}};        // d m, high, q
    case DType::q2_k: return {3, {16, 64, 4}};       // scales, q, d m
    case DType::q3_k: return {4, {32, 64, 12, 2}};   // high, q, scales, d
    case DType::q4_k: return {2, {16, 128}};         // d m scales, q
    case DType::q5_k: return {3, {16, 32, 128}};     // d m scales, high, q
    case DType::q6_k: return {4, {128, 64, 16, 2}};  // q, high, scales, d
    case DType::iq4_nl: return {2, {2, 16}};         // d, q
    case DType::iq4_xs: return {2, {8, 128}};        // d scales_high scales_low, q
    case DType::mxfp4: return {2, {1, 16}};          // e, q
    default: return {};
  }
}

inline constexpr std::int64_t plane_alignment = 256;

struct Planes {                          // of one matrix
  std::array<std::int64_t, 4> offset{};  // of each plane, from the matrix' beginning
  std::int64_t bytes = 0;
};
constexpr Planes planes_of(DType type, std::int64_t blocks) {  // `blocks`: rows times the blocks of a row
  Planes p;
  const PlaneFields fields = plane_fields(type);
  for (int f = 0; f < fields.count; ++f) {
    p.offset[std::size_t(f)] = p.bytes;
    p.bytes += (blocks * fields.bytes[std::size_t(f)] + plane_alignment - 1) / plane_alignment * plane_alignment;
  }
  return p;
}

// Blocks [first, last) of a matrix from the file's order at `blocks` (its block 0) into its planes at `to`.
void split_planes(DType type, const std::byte* blocks, std::int64_t count, std::int64_t first, std::int64_t last,
                  std::byte* to);

}  // namespace ridge
