// What the sampler of a row (row_sampler.cuh) keeps and computes with.
#pragma once
#include <cstdint>

#include "op/sampling/sampling.h"

namespace ridge::op::sampler {

constexpr int bins = 1024, fine_bins = 512, list_room = 1024, most_blocks = 8;
constexpr double nothing = -45;  // beyond this exponent a weight is 0: e^-45 2^62 < 1/2

// Where a token stands in the order of drawing, as a number: the larger logit first, of equal ones the lower id.
using Place = std::uint64_t;
__device__ inline Place place_of(float x, std::int32_t id) {
  const std::uint32_t bits = __float_as_uint(x), ordered = bits >> 31 ? ~bits : bits | 0x80000000u;
  return Place(~ordered) << 32 | std::uint32_t(id);
}
__device__ inline float logit_at(Place p) {
  const std::uint32_t ordered = ~std::uint32_t(p >> 32);
  return __uint_as_float(ordered >> 31 ? ordered & 0x7fffffffu : ~ordered);
}

struct Window {  // tokens of some bins, and of those the ones in [first, last]
  int first_bin, last_bin;
  Place first, last;
};
struct Command {
  enum Kind : int { find_range, divide, collect, end } kind;
  Window window;
  int shift;  // of divide: tokens whose places agree above it share a fine bin
};
struct Part {  // what a block knows of its part
  Place best;
  float least;
  bool broken;
};

template <int n> struct Sums {  // running, over bins
  static constexpr int size = n;
  std::uint32_t count[n];
  std::uint64_t weight[n];
};
struct Shared {                                      // of each block; what is marked * is the first's alone
  std::uint32_t count[bins], low[bins], high[bins];  // this part's tokens in each bin, and the halves of their weight
  Sums<bins> all;                                    // * of all parts
  Sums<fine_bins> fine;                              // * the same within a window
  Place list[list_room];                             // * the tokens of the window collected last, sorted
  std::uint64_t weight[list_room];  // * running sums over them; before that, each block's unsorted ones
  Part part[most_blocks];
  Place range_first[most_blocks], range_last[most_blocks];  // *
  std::uint64_t kept[most_blocks];                          // * weights that pass min-p
  int end[most_blocks];                                     // * of each block's tokens in the list
  std::uint64_t warp[3][32];
  Command command;
  std::uint32_t found;
  int index;
};

struct RowTask {
  const float* logits;
  float* held;  // where the block keeps its part; a lone block only where it is adjusted
  const SampleControl* control;
  const SampleAdjust* adjusts;
  std::int32_t* token;
  std::int32_t vocabulary;
  bool vectors;  // rows begin at multiples of 16 bytes
};

// As adjust_logits (row.cpp), operation by operation.
__device__ inline float adjusted(float x, const SampleAdjust& a, const SampleControl& c) {
  x = __fadd_rn(x, a.bias);
  if (a.seen) x = x > 0 ? __fdiv_rn(x, c.repetition) : __fmul_rn(x, c.repetition);
  return __fsub_rn(x, __fadd_rn(__fmul_rn(float(a.generated), c.frequency), a.generated > 0 ? c.presence : 0.0f));
}

// One load, of 16 bytes: the list may lie in the host's memory.
__device__ inline SampleAdjust adjust_at(const SampleAdjust* list, std::int32_t i) {
  const int4 v = reinterpret_cast<const int4*>(list)[i];
  return {v.x, v.y, v.z, __int_as_float(v.w)};
}
static_assert(sizeof(SampleAdjust) == sizeof(int4));

// As uniform (row.cpp).
__device__ inline std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
__device__ inline double uniform_at(std::uint64_t seed, std::uint64_t position) {
  const std::uint64_t key = mixed(seed + 0x9e3779b97f4a7c15u);
  return double(mixed(key + (position + 1) * 0x9e3779b97f4a7c15u) >> 11) * 0x1p-53;
}

}  // namespace ridge::op::sampler
