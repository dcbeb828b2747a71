#include "op/attention/tile.h"

#include <algorithm>
#include <cstring>

namespace ridge::op {
namespace {

std::int64_t whole_lines(std::int64_t floats) { return (floats + 15) / 16 * 16; }

}  // namespace

TileSize tile_size(std::int64_t head_dim, std::int64_t group) {
  return {head_dim, whole_lines(head_dim), group, std::max<std::int64_t>(1, tile_rows / group)};
}

std::int64_t Partial::floats(const TileSize& size, std::int64_t rows) {
  return 2 * whole_lines(rows) + rows * size.padded_d;
}

Partial partial_at(float* memory, std::int64_t rows) {
  return {memory, memory + whole_lines(rows), memory + 2 * whole_lines(rows)};
}

std::int64_t TileScratch::floats(const TileSize& size) {
  const std::int64_t rows = size.rows();
  return rows * size.padded_d + rows * score_stride + stripe_keys * size.padded_d + 2 * Partial::floats(size, rows);
}

TileScratch scratch_at(float* memory, const TileSize& size) {
  const std::int64_t rows = size.rows();
  float* const scores = memory + rows * size.padded_d;
  float* const stripe = scores + rows * score_stride;
  float* const chunk = stripe + stripe_keys * size.padded_d;
  return {memory, scores, stripe, partial_at(chunk, rows), partial_at(chunk + Partial::floats(size, rows), rows)};
}

std::int64_t Tile::first_key(std::int64_t query) const {
  return params.window > 0 ? std::max<std::int64_t>(0, first_position + query + 1 - params.window) : 0;
}

std::int64_t Tile::last_key(std::int64_t query) const {
  return params.causal ? std::min(first_position + query + 1, context) : context;
}

void clear(const TileSize& size, int rows, const Partial& p) {
  std::fill_n(p.most, rows, -1e30f);  // below every score, and finite: differences of two of them are no NaN
  std::fill_n(p.sum, rows, 0.0f);
  std::memset(p.values, 0, std::size_t(rows * size.padded_d) * sizeof(float));
}

}  // namespace ridge::op
