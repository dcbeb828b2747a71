// Who computes which tile, and where results go. What is computed is tile.h's business.
#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/thread_pool.h"
#include "op/attention/kernels.h"
#include "op/attention/tile.h"
#include "op/kv_store/kv_layout.h"
#include "op/store_row.h"
#include "tensor/quantize_act.h"

namespace ridge::op {
namespace {

constexpr std::int64_t most_partial_bytes = 16 << 20;
constexpr std::int64_t inline_products = 64 << 10;  // query x key x element: below it, waking others takes longer

std::int64_t lines(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }
std::int64_t worker_bytes(const TileSize& size) {
  return lines(TileScratch::floats(size) * std::int64_t(sizeof(float)));
}
std::int64_t partial_bytes(const TileSize& size, std::int64_t rows) {
  return lines(Partial::floats(size, rows) * std::int64_t(sizeof(float)));
}

struct Heads {
  std::int64_t d, columns, kv_heads;
  TileSize size() const { return tile_size(d, columns / d / kv_heads); }
  std::int64_t group_columns() const { return columns / kv_heads; }
  // Whether a kv group's columns are whole blocks of q8_act, so that each tile can quantize its own.
  bool whole_blocks() const { return group_columns() % info(DType::q8_act).block_elems == 0 && size().padded_d == d; }
};

// Scratch: the first item of each sequence; all rows as floats, where tiles cannot quantize; each worker's; partials.
struct Memory {
  std::int64_t* first_item;
  float* rows;
  std::byte *workers, *partials;
  std::int64_t partial_bytes;
};

std::int64_t fixed_bytes(const Heads& heads, std::int64_t sequences, std::int64_t tokens, DType out,
                         std::int64_t threads) {
  const bool keeps_rows = out == DType::q8_act && !heads.whole_blocks();
  return lines((sequences + 1) * 8) + lines(keeps_rows ? tokens * heads.columns * 4 : 0) +
         threads * worker_bytes(heads.size());
}

class Attention {
 public:
  Attention(const ir::Bound& b, const TileKernels& kernels)
      : b_(b),
        kernels_(kernels),
        params_(b.as<AttentionParams>()),
        cached_(b.in.size() == 5),
        heads_(find_heads(b)),
        size_(heads_.size()),
        memory_(find_memory()) {}

  void run() {
    const std::int64_t items = list_items();
    const int threads = b_.pool.threads();
    const bool few = items < 4 * std::int64_t(threads) && most_chunks_ > 1;
    const std::int64_t part = partial_bytes(size_, std::min(most_queries_, size_.queries) * size_.group);
    if (products_ < inline_products || threads == 1) {
      for (std::int64_t i = 0; i < items; ++i) whole_item(i, 0);
    } else if (few && items * most_chunks_ * part <= memory_.partial_bytes) {
      split_items(items, part);
    } else {  // the last ones, which see most keys, first
      b_.pool.parallel_ranges(items, 1,
                              [&](std::int64_t i, std::int64_t, int worker) { whole_item(items - 1 - i, worker); });
    }
    if (memory_.rows)
      b_.pool.parallel_for(b_.out[0].rows(),
                           [&](std::int64_t t, int) { store_row(memory_.rows + t * heads_.columns, b_.out[0], t); });
  }

 private:
  static Heads find_heads(const ir::Bound& b) {
    const std::int64_t d = b.as<AttentionParams>().head_dim;
    return {d, b.in[0].columns(), b.in.size() == 5 ? b.in[1].dim(2) : b.in[1].columns() / d};
  }

  Memory find_memory() const {
    const std::int64_t tokens = b_.in[0].rows(), threads = b_.pool.threads(), sequences = count_sequences();
    const std::int64_t fixed = fixed_bytes(heads_, sequences, tokens, b_.out[0].dtype, threads);
    if (fixed > std::int64_t(b_.scratch.size())) fail_bug("attention: scratch for fewer threads than the pool has");
    std::byte* at = b_.scratch.data();
    Memory m{};
    m.first_item = reinterpret_cast<std::int64_t*>(at);
    at += lines((sequences + 1) * 8);
    if (b_.out[0].dtype == DType::q8_act && !heads_.whole_blocks()) {
      m.rows = reinterpret_cast<float*>(at);
      at += lines(tokens * heads_.columns * 4);
    }
    m.workers = at;
    m.partials = at + threads * worker_bytes(size_);
    m.partial_bytes = std::int64_t(b_.scratch.size()) - fixed;
    return m;
  }

  std::int64_t count_sequences() const { return b_.in[cached_ ? 2 : 3].dim(0) - 1; }
  const std::int32_t* starts() const { return b_.in[cached_ ? 2 : 3].as<std::int32_t>(); }
  std::int64_t queries(std::int64_t s) const { return starts()[s + 1] - starts()[s]; }
  std::int64_t context(std::int64_t s) const { return cached_ ? b_.in[3].as<std::int32_t>()[s] : queries(s); }
  std::int64_t tiles(std::int64_t s) const { return (queries(s) + size_.queries - 1) / size_.queries; }

  std::int64_t list_items() {  // an item is a tile: of each sequence, for each tile of queries, each kv head
    std::int64_t items = 0;
    for (std::int64_t s = 0; s < count_sequences(); ++s) {
      memory_.first_item[s] = items;
      items += tiles(s) * heads_.kv_heads;
      most_queries_ = std::max(most_queries_, queries(s));
      products_ += queries(s) * context(s) * heads_.columns;
      if (queries(s) > 0) most_chunks_ = std::max(most_chunks_, (context(s) + chunk_keys - 1) / chunk_keys);
    }
    memory_.first_item[count_sequences()] = items;
    return items;
  }

  struct Item {
    std::int64_t sequence, head, first_query;
  };
  Item item(std::int64_t index) const {
    const std::int64_t* first = memory_.first_item;
    const std::int64_t s = std::upper_bound(first, first + count_sequences() + 1, index) - first - 1;
    const std::int64_t inside = index - first[s];
    return {s, inside % heads_.kv_heads, inside / heads_.kv_heads * size_.queries};
  }

  Tile tile(const Item& i) const {
    const View q = b_.in[0];
    return {.params = params_,
            .size = size_,
            .keys = cached_ ? paged_keys(i) : row_keys(i),
            .q = q.row_as<float>(starts()[i.sequence] + i.first_query) + i.head * heads_.group_columns(),
            .q_stride = heads_.columns,
            .first_position = context(i.sequence) - queries(i.sequence) + i.first_query,
            .queries = std::min(size_.queries, queries(i.sequence) - i.first_query),
            .context = context(i.sequence)};
  }
  TileKeys paged_keys(const Item& i) const {
    const View state = b_.in[1];
    const KvLayout at(state);
    const std::int64_t elem = row_bytes(state.dtype, 1);
    return {.source = state.dtype == DType::f16 ? KeySource::paged_f16 : KeySource::paged_f32,
            .keys = state.data + at.keys(0, i.head) * elem,
            .values = state.data + at.values(0, i.head) * elem,
            .block_bytes = (at.keys(1, 0) - at.keys(0, 0)) * elem,
            .block_size = at.block_size,
            .blocks = b_.in[4].row_as<std::int32_t>(i.sequence)};
  }
  TileKeys row_keys(const Item& i) const {
    const View k = b_.in[1], v = b_.in[2];
    const std::int64_t offset = i.head * heads_.d * std::int64_t(sizeof(float));
    return {.source = KeySource::rows_f32,
            .keys = k.row(starts()[i.sequence]) + offset,
            .values = v.row(starts()[i.sequence]) + offset,
            .block_bytes = k.row_bytes()};
  }

  TileScratch scratch(int worker) const {
    return scratch_at(reinterpret_cast<float*>(memory_.workers + worker * worker_bytes(size_)), size_);
  }

  void whole_item(std::int64_t index, int worker) const {
    const Item i = item(index);
    const Tile t = tile(i);
    const TileScratch s = scratch(worker);
    kernels_.load_queries(t, s);
    clear(size_, t.rows(), s.total);
    for (std::int64_t c = t.first_chunk(); c < t.last_chunk(); ++c) {
      kernels_.attend(t, c, s, s.chunk);
      kernels_.merge(size_, t.rows(), s.chunk, s.total);
    }
    store(i, t, s.total);
  }

  Partial part(std::int64_t index, std::int64_t chunk, int rows, std::int64_t part_bytes) const {
    std::byte* const memory = memory_.partials + (index * most_chunks_ + chunk) * part_bytes;
    return partial_at(reinterpret_cast<float*>(memory), rows);
  }

  // Every chunk an item of its own, then merged in the same order.
  void split_items(std::int64_t items, std::int64_t part_bytes) const {
    b_.pool.parallel_ranges(items * most_chunks_, 1, [&](std::int64_t i, std::int64_t, int worker) {
      const std::int64_t index = i / most_chunks_, chunk = i % most_chunks_;
      const Tile t = tile(item(index));
      if (chunk < t.first_chunk() || chunk >= t.last_chunk()) return;
      const TileScratch s = scratch(worker);
      kernels_.load_queries(t, s);
      kernels_.attend(t, chunk, s, part(index, chunk, t.rows(), part_bytes));
    });
    const std::int64_t grain = most_chunks_ < 64 ? items : 1;  // few are merged where the call is
    b_.pool.parallel_ranges(items, grain, [&](std::int64_t begin, std::int64_t end, int worker) {
      for (std::int64_t i = begin; i < end; ++i) merge_item(i, worker, part_bytes);
    });
  }
  void merge_item(std::int64_t index, int worker, std::int64_t part_bytes) const {
    const Item i = item(index);
    const Tile t = tile(i);
    const Partial total = scratch(worker).total;
    clear(size_, t.rows(), total);
    for (std::int64_t c = t.first_chunk(); c < t.last_chunk(); ++c)
      kernels_.merge(size_, t.rows(), part(index, c, t.rows(), part_bytes), total);
    store(i, t, total);
  }

  void store(const Item& i, const Tile& t, const Partial& total) const {
    kernels_.finish(size_, t.rows(), total);
    const View out = b_.out[0];
    const std::int64_t group_columns = heads_.group_columns(), first_row = starts()[i.sequence] + i.first_query;
    for (std::int64_t q = 0; q < t.queries; ++q) {
      const float* values = total.values + q * size_.group * size_.padded_d;
      if (out.dtype == DType::q8_act && !memory_.rows) {
        quantize_row(values, group_columns, out.row(first_row + q) + row_bytes(DType::q8_act, i.head * group_columns));
        continue;
      }
      float* to = memory_.rows ? memory_.rows + (first_row + q) * heads_.columns : out.row_as<float>(first_row + q);
      for (std::int64_t h = 0; h < size_.group; ++h)
        std::memcpy(to + i.head * group_columns + h * size_.d, values + h * size_.padded_d,
                    std::size_t(size_.d) * sizeof(float));
    }
  }

  const ir::Bound& b_;
  const TileKernels& kernels_;
  const AttentionParams& params_;
  const bool cached_;
  const Heads heads_;
  const TileSize size_;
  Memory memory_;
  std::int64_t most_queries_ = 0, most_chunks_ = 0, products_ = 0;
};

template <SimdLevel level> void run_attention(const ir::Bound& b) {
  static const TileKernels kernels = tile_kernels(level);
  Attention(b, kernels).run();
}

}  // namespace

ir::CpuKernel attention_cpu(SimdLevel level) {
  switch (level) {
    case SimdLevel::avx512: return run_attention<SimdLevel::avx512>;
    case SimdLevel::avx2: return run_attention<SimdLevel::avx2>;
    case SimdLevel::baseline: break;
  }
  return run_attention<SimdLevel::baseline>;
}

std::int64_t attention_cpu_scratch(const ir::Program& p, const ir::Call& c, const ir::Target& target) {
  const bool cached = c.in.size() == 5;
  const std::int64_t d = c.params.as<AttentionParams>().head_dim;
  const Heads heads{d, p[c.in[0]].shape[1].size, cached ? p[c.in[1]].shape[2].size : p[c.in[1]].shape[1].size / d};
  const TileSize size = heads.size();
  const std::int64_t threads = target.threads;
  const std::int64_t keys = cached ? p[c.in[4]].shape[1].size * p[c.in[1]].shape[3].size : target.most.tokens;
  // Splitting pays where tiles are few, and then it is decode: at most 4 tiles a thread, of some 16 rows.
  const std::int64_t parts = threads == 1 ? 0 : 4 * threads * ((keys + chunk_keys - 1) / chunk_keys);
  return fixed_bytes(heads, target.most.sequences, target.most.tokens, p[c.out[0]].dtype, threads) +
         std::min(most_partial_bytes, parts * partial_bytes(size, std::min<std::int64_t>(16, size.rows())));
}

}  // namespace ridge::op
