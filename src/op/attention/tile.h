// The CPU's attention in pieces: a tile is a few queries of one sequence times the query heads of one kv head, its rows
// numbered query * group + head. Keys come in chunks of chunk_keys at fixed places of the sequence. Each chunk gives
// a partial result of every row on its own (softmax over that chunk), and the partials are merged in order of position.
//
// So what a row gets depends on its own keys alone: neither on the other rows of its tile (of keys that only they see,
// its weight is zero and their values are not read), nor on how prefill was cut into steps, on batch mates, or on
// threads: a chunk may be computed anywhere, as long as the order of merging stays.
#pragma once
#include <cstdint>

#include "op/attention/attention.h"
#include "op/simd_level.h"

namespace ridge::op {

inline constexpr std::int64_t chunk_keys = 256;  // part of the result: changing it changes the last bits
inline constexpr std::int64_t stripe_keys = 64;  // what the loops take at a time, to stay in the first cache
inline constexpr std::int64_t unit_keys = 16;    // one vector of the widest kind; keys of a unit lie in one block
inline constexpr std::int64_t score_stride = chunk_keys + 16;  // of a row; not a power of two, for the cache's sets
inline constexpr int tile_rows = 48;  // about as many rows as share what was loaded of keys and values
inline constexpr int panel_most = 6;  // rows whose sums fit the registers

struct TileSize {            // one for all tiles of a call
  std::int64_t d, padded_d;  // padded to whole vectors: the stride of partial results
  std::int64_t group;        // query heads of a kv head
  std::int64_t queries;      // of a full tile
  std::int64_t rows() const { return queries * group; }
};
TileSize tile_size(std::int64_t head_dim, std::int64_t group);

enum class KeySource : std::uint8_t { paged_f32, paged_f16, rows_f32 };

struct TileKeys {  // keys and values of one sequence and kv head
  KeySource source;
  const std::byte *keys, *values;  // paged: of the head in block 0; rows: of the sequence's first row
  std::int64_t block_bytes = 0;    // paged: from a block to the next; rows: from a row to the next
  std::int64_t block_size = 0;
  const std::int32_t* blocks = nullptr;
};

struct Partial {  // for each row of a tile: scores' maximum, sum of weights, and weighted sum of values
  float *most, *sum;
  float* values;  // rows x padded_d
  static std::int64_t floats(const TileSize& size, std::int64_t rows);
};
Partial partial_at(float* memory, std::int64_t rows);

struct TileScratch {  // of one worker, 64-byte aligned
  float *q, *scores, *stripe;
  Partial chunk, total;
  static std::int64_t floats(const TileSize& size);
};
TileScratch scratch_at(float* memory, const TileSize& size);

struct Tile {
  const AttentionParams& params;
  const TileSize& size;
  TileKeys keys;
  const float* q;  // first row and head; `q_stride` floats to the next query
  std::int64_t q_stride;
  std::int64_t first_position;  // of the first query in its sequence
  std::int64_t queries;
  std::int64_t context;  // keys of the sequence

  int rows() const { return int(queries * size.group); }
  std::int64_t first_key(std::int64_t query) const;  // which keys a query sees: [first_key, last_key)
  std::int64_t last_key(std::int64_t query) const;
  std::int64_t first_chunk() const { return first_key(0) / chunk_keys; }
  std::int64_t last_chunk() const { return (last_key(queries - 1) + chunk_keys - 1) / chunk_keys; }  // one past it
};

struct TileKernels {                                      // of one SIMD level
  void (*load_queries)(const Tile&, const TileScratch&);  // scaled, into scratch.q
  void (*attend)(const Tile&, std::int64_t chunk, const TileScratch&, const Partial& out);
  void (*merge)(const TileSize&, int rows, const Partial& chunk, const Partial& total);  // total = total and chunk
  void (*finish)(const TileSize&, int rows, const Partial& total);                       // values /= sum
};
TileKernels tile_kernels(SimdLevel level);

void clear(const TileSize& size, int rows, const Partial& p);  // the neutral element of merge

}  // namespace ridge::op
