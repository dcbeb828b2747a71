#include <cstring>
#include <limits>
#include <type_traits>

#include "op/attention/tile.h"
#include "tensor/float16.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "op/attention/tile_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "op/attention/products-inl.h"
#include "op/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ridge::op::HWY_NAMESPACE {
namespace {

constexpr std::int64_t chunk_units = chunk_keys / unit_keys;

// Rows in panels of nearly equal size: body(first row, rows of the panel).
template <class Body> HWY_INLINE void each_panel(int rows, const Body& body) {
  const int panels_needed = (rows + panel_most - 1) / panel_most;
  const int size = rows / panels_needed, larger = rows % panels_needed;
  for (int p = 0, row = 0; p < panels_needed; ++p) {
    const int n = size + (p < larger ? 1 : 0);
    body(row, n);
    row += n;
  }
}

void load_queries(const Tile& tile, const TileScratch& scratch) {
  const std::int64_t d = tile.size.d;
  each_panel(tile.rows(), [&](int first, int n) {
    const float* q[panel_most];
    for (int r = 0; r < n; ++r)
      q[r] = tile.q + (first + r) / tile.size.group * tile.q_stride + (first + r) % tile.size.group * d;
    float* to = scratch.q + first * d;
    for (std::int64_t i = 0; i < d; ++i)
      for (int r = 0; r < n; ++r) *to++ = q[r][i] * tile.params.scale;
  });
}

// ---- where keys and values are read from ----

template <class T> struct Units {  // of a chunk: first key of each unit_keys of them
  const T *keys[chunk_units], *values[chunk_units];
  std::int64_t key_stride, value_stride;  // to the next element of a key, to the next value
};

// As they lie in the cache; for [begin, end) of the chunk at `base`.
template <class T>
HWY_INLINE void find_units(const Tile& tile, std::int64_t base, std::int64_t begin, std::int64_t end, Units<T>& units) {
  const TileKeys& k = tile.keys;
  units.key_stride = k.block_size, units.value_stride = tile.size.d;
  for (std::int64_t u = begin / unit_keys; u * unit_keys < end; ++u) {
    const std::int64_t at = base + u * unit_keys, place = at % k.block_size;
    const std::int64_t block = k.blocks[at / k.block_size] * k.block_bytes;
    units.keys[u] = reinterpret_cast<const T*>(k.keys + block) + place;
    units.values[u] = reinterpret_cast<const T*>(k.values + block) + place * tile.size.d;
  }
}

HWY_INLINE float element(const TileKeys& k, const std::byte* base, std::int64_t index) {
  if (k.source == KeySource::paged_f16) return half_to_float(reinterpret_cast<const std::uint16_t*>(base)[index]);
  return reinterpret_cast<const float*>(base)[index];
}

struct Stripe {  // keys [first, last) of the sequence, which were seen; `start` is where its stripe_keys begin
  std::int64_t start, first, last;
};

// Copies of any layout, where units would cross blocks or vectors would pass a row's end.
void copy_keys(const Tile& tile, const Stripe& s, float* to) {
  const TileKeys& k = tile.keys;
  for (std::int64_t j = s.first; j < s.last; ++j) {
    const bool rows = k.source == KeySource::rows_f32;
    const std::byte* base = k.keys + (rows ? j : k.blocks[j / k.block_size]) * k.block_bytes;
    const std::int64_t place = rows ? 0 : j % k.block_size, stride = rows ? 1 : k.block_size;
    for (std::int64_t i = 0; i < tile.size.d; ++i)
      to[i * stripe_keys + j - s.start] = element(k, base, place + i * stride);
  }
}
void copy_values(const Tile& tile, const Stripe& s, float* to) {
  const TileKeys& k = tile.keys;
  const std::int64_t d = tile.size.d, padded = tile.size.padded_d;
  std::memset(to, 0, std::size_t(stripe_keys * padded) * sizeof(float));
  for (std::int64_t j = s.first; j < s.last; ++j) {
    const bool rows = k.source == KeySource::rows_f32;
    const std::byte* base = k.values + (rows ? j : k.blocks[j / k.block_size]) * k.block_bytes;
    const std::int64_t place = rows ? 0 : j % k.block_size;
    for (std::int64_t i = 0; i < d; ++i) to[(j - s.start) * padded + i] = element(k, base, place * d + i);
  }
}

// ---- softmax of a row over what it sees of a chunk ----

struct Seen {  // places in the chunk: scores exist for [begin, end), whole units; the row sees [first, last)
  std::int64_t begin, end, first, last;
};

HWY_INLINE void softmax(float* scores, const Seen& seen, float softcap, float& most, float& sum) {
  const D d;
  const V hidden = hn::Set(d, -std::numeric_limits<float>::infinity());
  const bool masked = seen.first > seen.begin || seen.last < seen.end;
  V top = hidden;
  for (std::int64_t j = seen.begin; j < seen.end; j += lanes) {
    V x = hn::LoadU(d, scores + j);
    if (softcap != 0) x = hn::Mul(hn::Set(d, softcap), hyperbolic_tangent(d, hn::Mul(x, hn::Set(d, 1 / softcap))));
    if (masked) {
      const V place = hn::Iota(d, float(j));
      const auto sees =
          hn::And(hn::Ge(place, hn::Set(d, float(seen.first))), hn::Lt(place, hn::Set(d, float(seen.last))));
      x = hn::IfThenElse(sees, x, hidden);
    }
    if (masked || softcap != 0) hn::StoreU(x, d, scores + j);
    top = hn::Max(x, top);
  }
  most = HWY_MAX(hn::GetLane(hn::MaxOfLanes(d, top)), -1e30f);
  V total = hn::Zero(d);
  for (std::int64_t j = seen.begin; j < seen.end; j += lanes) {
    const V weight = exponential(d, hn::Sub(hn::LoadU(d, scores + j), hn::Set(d, most)));
    hn::StoreU(weight, d, scores + j);
    total = hn::Add(total, weight);
  }
  sum = hn::GetLane(hn::SumOfLanes(d, total));
}

HWY_INLINE std::int64_t clamped(std::int64_t x, std::int64_t low, std::int64_t high) {
  return HWY_MIN(HWY_MAX(x, low), high);
}

// Of query `query`, whose row's scores exist for [begin, end) of the chunk at `base`.
HWY_INLINE Seen seen_by(const Tile& tile, std::int64_t query, std::int64_t base, std::int64_t begin, std::int64_t end) {
  return {begin, end, clamped(tile.first_key(query) - base, begin, end),
          clamped(tile.last_key(query) - base, begin, end)};
}

void softmax_rows(const Tile& tile, std::int64_t base, std::int64_t begin, std::int64_t end, float* scores,
                  const Partial& out) {
  const std::int64_t whole = (end + unit_keys - 1) / unit_keys * unit_keys;
  for (int r = 0; r < tile.rows(); ++r)
    softmax(scores + r * score_stride, seen_by(tile, r / tile.size.group, base, begin, whole), tile.params.softcap,
            out.most[r], out.sum[r]);
}

// ---- the products ----

template <class T>
HWY_INLINE void multiply_keys(const Tile& tile, const Units<T>& units, std::int64_t begin, std::int64_t end,
                              const TileScratch& scratch) {
  const std::int64_t d = tile.size.d;
  std::int64_t j = begin;
  while (j < end) {
    const std::int64_t left = ((end + unit_keys - 1) / unit_keys * unit_keys - j) / lanes;
    const int vectors = int(HWY_MIN(left, std::int64_t(most_vectors)));
    const T* keys[most_vectors];
    for (int v = 0; v < vectors; ++v) {
      const std::int64_t at = j + v * lanes;
      keys[v] = units.keys[at / unit_keys] + at % unit_keys;
    }
    each_panel(tile.rows(), [&](int first, int n) {
      panels<T>.score[n - 1][vectors - 1](scratch.q + first * d, d, keys, units.key_stride,
                                          scratch.scores + first * score_stride + j);
    });
    j += vectors * lanes;
  }
}

// Adds the values of [begin, end), weighted, to `n` rows.
template <class T>
HWY_INLINE void add_values(const TileSize& size, const Units<T>& units, std::int64_t begin, std::int64_t end, int first,
                           int n, const float* scores, float* out) {
  const std::int64_t padded = size.padded_d;
  for (std::int64_t e = 0; begin < end && e < padded;) {
    const int vectors = int(HWY_MIN((padded - e) / lanes, std::int64_t(most_vectors)));
    panels<T>.value[n - 1][vectors - 1](scores + first * score_stride, begin, end, units.values, e, units.value_stride,
                                        out + first * padded + e, padded);
    e += vectors * lanes;
  }
}

// Each row reads the values of keys that it sees, and no others: a weight of zero times an infinity is no zero. What
// all rows of a panel see goes at once; what is before and after it, by the rows of one query at a time.
template <class T>
HWY_INLINE void multiply_values(const Tile& tile, const Units<T>& units, std::int64_t base, std::int64_t begin,
                                std::int64_t end, const float* scores, float* out) {
  const std::int64_t group = tile.size.group;
  each_panel(tile.rows(), [&](int first, int n) {
    const std::int64_t first_query = first / group, last_query = (first + n - 1) / group;
    const std::int64_t common = seen_by(tile, last_query, base, begin, end).first;
    const std::int64_t common_end = HWY_MAX(common, seen_by(tile, first_query, base, begin, end).last);
    auto each_query = [&](auto body) {
      for (std::int64_t q = first_query; q <= last_query; ++q) {
        const int row = int(HWY_MAX(q * group, std::int64_t(first)));
        const int rows = int(HWY_MIN((q + 1) * group, std::int64_t(first + n))) - row;
        body(seen_by(tile, q, base, begin, end), row, rows);
      }
    };
    if (begin < common)
      each_query([&](const Seen& seen, int row, int rows) {
        add_values(tile.size, units, seen.first, HWY_MIN(seen.last, common), row, rows, scores, out);
      });
    add_values(tile.size, units, common, common_end, first, n, scores, out);
    if (common_end < end)
      each_query([&](const Seen& seen, int row, int rows) {
        add_values(tile.size, units, HWY_MAX(seen.first, common_end), seen.last, row, rows, scores, out);
      });
  });
}

template <class T>
void attend_as(const Tile& tile, std::int64_t chunk, bool copied, const TileScratch& scratch, const Partial& out) {
  const std::int64_t base = chunk * chunk_keys, seen_from = HWY_MAX(tile.first_key(0) - base, std::int64_t(0));
  const std::int64_t begin = seen_from / unit_keys * unit_keys;
  const std::int64_t end = HWY_MIN(tile.last_key(tile.queries - 1) - base, chunk_keys);
  Units<T> units;
  if (!copied) find_units(tile, base, begin, end, units);
  auto each_stripe = [&](auto copy, auto multiply) {
    for (std::int64_t s = begin / stripe_keys * stripe_keys; s < end; s += stripe_keys) {
      const std::int64_t from = HWY_MAX(s, begin), to = HWY_MIN(s + stripe_keys, end);
      if (copied) copy(s, Stripe{base + s, base + HWY_MAX(s, seen_from), base + to});
      multiply(from, to);
    }
  };
  each_stripe(
      [&](std::int64_t s, const Stripe& stripe) {
        if constexpr (std::is_same_v<T, float>) {
          copy_keys(tile, stripe, scratch.stripe);
          units.key_stride = stripe_keys;
          for (std::int64_t j = 0; j < stripe_keys; j += unit_keys)
            units.keys[(s + j) / unit_keys] = scratch.stripe + j;
        }
      },
      [&](std::int64_t from, std::int64_t to) { multiply_keys(tile, units, from, to, scratch); });
  softmax_rows(tile, base, begin, end, scratch.scores, out);
  std::memset(out.values, 0, std::size_t(tile.rows() * tile.size.padded_d) * sizeof(float));
  each_stripe(
      [&](std::int64_t s, const Stripe& stripe) {
        if constexpr (std::is_same_v<T, float>) {
          copy_values(tile, stripe, scratch.stripe);
          units.value_stride = tile.size.padded_d;
          for (std::int64_t j = 0; j < stripe_keys; j += unit_keys)
            units.values[(s + j) / unit_keys] = scratch.stripe + j * tile.size.padded_d;
        }
      },
      [&](std::int64_t from, std::int64_t to) {
        multiply_values(tile, units, base, from, to, scratch.scores, out.values);
      });
}

void attend(const Tile& tile, std::int64_t chunk, const TileScratch& scratch, const Partial& out) {
  const bool whole = tile.keys.source != KeySource::rows_f32 && tile.keys.block_size % unit_keys == 0 &&
                     tile.size.d == tile.size.padded_d;
  if (whole && tile.keys.source == KeySource::paged_f16)
    return attend_as<hwy::float16_t>(tile, chunk, false, scratch, out);
  attend_as<float>(tile, chunk, !whole, scratch, out);
}

// ---- partial results ----

void merge(const TileSize& size, int rows, const Partial& chunk, const Partial& total) {
  const D d;
  constexpr int batch = 16;
  for (int first = 0; first < rows; first += batch) {
    HWY_ALIGN float keep[batch], add[batch];
    for (int r = 0; r < batch; r += lanes) {  // statistics are padded to whole lines
      float *most = total.most + first + r, *sum = total.sum + first + r;
      const V a = hn::LoadU(d, most), b = hn::LoadU(d, chunk.most + first + r), top = hn::Max(a, b);
      const V keep_a = exponential(d, hn::Sub(a, top)), add_b = exponential(d, hn::Sub(b, top));
      hn::StoreU(keep_a, d, keep + r);
      hn::StoreU(add_b, d, add + r);
      hn::StoreU(top, d, most);
      hn::StoreU(hn::MulAdd(hn::LoadU(d, sum), keep_a, hn::Mul(hn::LoadU(d, chunk.sum + first + r), add_b)), d, sum);
    }
    for (int r = 0; r < batch && first + r < rows; ++r) {
      float* to = total.values + (first + r) * size.padded_d;
      const float* from = chunk.values + (first + r) * size.padded_d;
      const V keep_a = hn::Set(d, keep[r]), add_b = hn::Set(d, add[r]);
      for (std::int64_t i = 0; i < size.padded_d; i += lanes)
        hn::StoreU(hn::MulAdd(hn::LoadU(d, to + i), keep_a, hn::Mul(hn::LoadU(d, from + i), add_b)), d, to + i);
    }
  }
}

void finish(const TileSize& size, int rows, const Partial& total) {
  const D d;
  for (int r = 0; r < rows; ++r) {
    float* values = total.values + r * size.padded_d;
    const V scale = hn::Set(d, 1 / total.sum[r]);
    for (std::int64_t i = 0; i < size.padded_d; i += lanes)
      hn::StoreU(hn::Mul(hn::LoadU(d, values + i), scale), d, values + i);
  }
}

}  // namespace
}  // namespace ridge::op::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::op {

TileKernels tile_kernels(SimdLevel level) {
  return {RIDGE_AT_LEVEL(level, load_queries), RIDGE_AT_LEVEL(level, attend), RIDGE_AT_LEVEL(level, merge),
          RIDGE_AT_LEVEL(level, finish)};
}

}  // namespace ridge::op
#endif
