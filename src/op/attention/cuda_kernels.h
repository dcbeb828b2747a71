// The GPU kernels of attention, and what those on tensor cores share: the task, and pages of the cache in shared
// memory.
#pragma once
#include <algorithm>
#include <limits>

#include "cuda/shared_memory.h"
#include "ir/op_info.h"
#include "op/attention/attention.h"
#include "op/kv_store/kv_layout.h"

namespace ridge::op {

void attention_plain_cuda(const ir::CudaBound&);  // every shape and type

// On tensor cores, for f16 states of these head_dims in blocks of 32 tokens. Prefill's weights and scaled queries are
// f16 (about 5e-4 of the result); decode keeps what rounding to f16 leaves in a second half.
enum class Queries : std::uint8_t { each, lone };  // every row of q by itself; sequences of one query, others left out
void attention_decode_cuda(const ir::CudaBound&, Queries which);
void attention_prefill_cuda(const ir::CudaBound&);       // sequences of one query left out
bool has_prefill_cuda(std::int64_t head_dim, int arch);  // so far as shared memory goes
std::int64_t attention_decode_scratch(std::int64_t head_dim, std::int64_t heads, std::int64_t kv_heads,
                                      const ir::Target&);

inline constexpr int page_keys = 32;  // of a block

// Calls f.template operator()<D>() for head_dims that have kernels; says whether there is one.
template <class F> bool with_head_dim(std::int64_t d, F&& f) {
  switch (d) {
    case 32: f.template operator()<32>(); return true;
    case 64: f.template operator()<64>(); return true;
    case 80: f.template operator()<80>(); return true;
    case 96: f.template operator()<96>(); return true;
    case 128: f.template operator()<128>(); return true;
    case 256: f.template operator()<256>(); return true;
    default: return false;
  }
}

using cuda::block_shared, cuda::multiprocessor_shared;

struct PagedTask {
  const float* q;
  const std::byte* state;
  const std::int32_t *query_start, *context_len, *block_table;
  KvLayout at;
  std::int64_t table_columns, columns;
  int sequences, kv_heads, group;  // group: query heads to a kv head
  float scale, cap;                // in units of log2: weights are 2^score; cap 0: none
  int window;                      // 0: all
  bool causal;

  explicit PagedTask(const ir::CudaBound& b)
      : q(b.in[0].as<float>()),
        state(b.in[1].data),
        query_start(b.in[2].as<std::int32_t>()),
        context_len(b.in[3].as<std::int32_t>()),
        block_table(b.in[4].as<std::int32_t>()),
        at(b.in[1]),
        table_columns(b.in[4].columns()),
        columns(b.in[0].columns()),
        sequences(int(b.in[3].dim(0))),
        kv_heads(int(at.heads)),
        group(int(columns / at.head_dim / at.heads)) {
    const auto& params = b.as<AttentionParams>();
    constexpr float log2_e = 1.44269504f;
    scale = params.scale * log2_e, cap = params.softcap * log2_e, causal = params.causal;
    window = int(std::min<std::int64_t>(params.window, std::numeric_limits<int>::max() / 2));
  }
};

#if defined(__CUDACC__)
namespace tile {

// -- PTX: asynchronous copies, matrices of 8 x 8 halves, products of 16 x 8 x 16 --
__device__ __forceinline__ unsigned shared_address(const void* p) { return unsigned(__cvta_generic_to_shared(p)); }

// 16 bytes to shared memory, of which `bytes` (0 or 16) are read and the others are zeros.
__device__ __forceinline__ void copy_async(unsigned to, const std::byte* from, int bytes) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
#endif
}
__device__ __forceinline__ void commit_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int groups> __device__ __forceinline__ void wait_copies() {  // all but the last `groups`
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
#endif
}
__device__ __forceinline__ void load_matrices(unsigned (&r)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}
__device__ __forceinline__ void load_transposed(unsigned (&r)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}
__device__ __forceinline__ void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {  // c += a b
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}
__device__ __forceinline__ float exp2_fast(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
// -- end of PTX --

__device__ __forceinline__ unsigned pack(__half low, __half high) {
  return unsigned(__half_as_ushort(low)) | unsigned(__half_as_ushort(high)) << 16;
}
__device__ __forceinline__ unsigned pack(float low, float high) {
  return pack(__float2half_rn(low), __float2half_rn(high));
}
// What rounding to half leaves of both, as halves.
__device__ __forceinline__ unsigned pack_rest(float low, float high) {
  return pack(low - __half2float(__float2half_rn(low)), high - __half2float(__float2half_rn(high)));
}

__device__ __forceinline__ float capped(float score, float cap) {  // cap * tanh(score / cap)
  return cap - __fdividef(2 * cap, exp2_fast(score * __fdividef(2.88539008f, cap)) + 1);
}

// A page, a block's 32 keys and values of one head, in shared memory: keys as head_dim rows of 32, whose four 16-byte
// pieces change places from row to row; values as 32 rows with 16 bytes between them. So 8 rows' pieces lie in 8
// different groups of banks.
template <int D> struct Page {
  static_assert(D % 16 == 0);
  static constexpr unsigned pieces = D / 8;  // of 16 bytes, of a row of values
  static constexpr int value_stride = 2 * D + 16, value_bytes = page_keys * value_stride, key_bytes = 64 * D;

  // Copies 16 bytes at a time, thread `index` of `threads`. `bytes`: 16, or 0 for zeros.
  template <unsigned threads>
  static __device__ __forceinline__ void copy_keys(unsigned to, const std::byte* from, unsigned index, int bytes) {
    static_assert(threads % 32 == 0);  // so that a thread's pieces change places alike
    to += index / 4 * 64 + (index % 4 ^ index / 8 % 4) * 16, from += index * 16;
#pragma unroll
    for (unsigned i = 0; i < 4 * D; i += threads)
      if (4 * D % threads == 0 || i + index < 4 * D) copy_async(to + i * 16, from + i * 16, bytes);
  }
  // Values of keys [first, first + count) of the page; zeros for the others, of which nothing is known.
  template <unsigned threads>
  static __device__ __forceinline__ void copy_values(unsigned to, const std::byte* from, unsigned index, int first,
                                                     int count) {
    constexpr bool whole_rows = threads % pieces == 0;
    to += index * 16, from += index * 16;
#pragma unroll
    for (unsigned i = 0; i < 4 * D; i += threads) {
      const unsigned row = whole_rows ? i / pieces + index / pieces : (i + index) / pieces;
      if (4 * D % threads == 0 || i + index < 4 * D)
        copy_async(to + i * 16 + row * 16, from + i * 16, row - unsigned(first) < unsigned(count) ? 16 : 0);
    }
  }

  // Where a lane's address begins for load_transposed: rows of 16 elements or keys, two pieces beside each other. The
  // four registers are then the two halves of the first piece's B operand, and of the second's.
  static __device__ __forceinline__ unsigned key_offset(unsigned lane) {
    return lane % 16 * 64 + (lane / 16 ^ lane / 2 % 4) * 16;
  }
  static __device__ __forceinline__ unsigned value_offset(unsigned lane) {
    return lane % 16 * value_stride + lane / 16 * 16;
  }

  // The B operands of 32 keys' elements 16 step ..: of keys 8 j .. they are b[j / 2][j % 2 * 2] and the next.
  static __device__ __forceinline__ void load_keys(unsigned (&b)[2][4], unsigned keys, int step) {
    load_transposed(b[0], keys + step * 1024);
    load_transposed(b[1], (keys ^ 32) + step * 1024);
  }
};

struct Query {
  int row, sequence, begin, end;  // sees keys [begin, end); row < 0: not this kernel's
};

__device__ inline Query find_query(const PagedTask& a, Queries which, int index) {
  int b = index, first = a.query_start[b], next = a.query_start[b + 1], context = a.context_len[b];
  const int row = which == Queries::each ? index : first;
  if (which == Queries::lone && next - first != 1) return {-1, 0, 0, 0};
  if (row < first || row >= next) {  // sequence b has none or several: the last that begins at or before the row
    int low = 0, high = a.sequences - 1;
    while (low < high) {
      const int middle = (low + high + 1) / 2;
      if (a.query_start[middle] <= row) low = middle;
      else high = middle - 1;
    }
    b = low, next = a.query_start[b + 1], context = a.context_len[b];
  }
  const int position = context - (next - row);
  return {row, b, a.window > 0 ? max(0, position + 1 - a.window) : 0, a.causal ? min(position + 1, context) : context};
}

struct Share {
  int count, first, last;  // of so many shares, this one's pages; count 0: there are no keys
};
__device__ inline Share share_of(const Query& q, int splits, int least_pages, int rank) {
  const int first = q.begin / page_keys, pages = q.end > q.begin ? (q.end + page_keys - 1) / page_keys - first : 0;
  if (pages == 0) return {0, 0, 0};
  const int wanted = min(splits, (pages + least_pages - 1) / least_pages), each = (pages + wanted - 1) / wanted;
  return {(pages + each - 1) / each, first + min(pages, rank * each), first + min(pages, (rank + 1) * each)};
}

// The pages that one warp reads in turn, keys and values by themselves, `units` of them on their way.
template <int D, int units> struct Ring {
  static constexpr int unit_bytes = Page<D>::value_bytes;
  const PagedTask& a;
  const Query& query;
  const std::int32_t* table;
  const std::byte* state;  // at the head's tile of block 0
  unsigned memory;
  int first, step, count, lane;  // pages first, first + step, ..: so many
  int ids = 0, next_ids = 0, block = 0, slot = 0;

  __device__ __forceinline__ int page(int i) const { return first + i * step; }
  __device__ __forceinline__ void find_blocks(int i) {  // of pages i .. i + 31, a lane each
    if (i + lane < count) next_ids = table[page(i + lane)];
  }
  __device__ __forceinline__ const std::byte* block_at() const { return state + 2 * a.at.keys(block, 0); }
  __device__ __forceinline__ unsigned take_slot() {
    const unsigned at = memory + slot * unit_bytes;
    slot = slot + 1 == units ? 0 : slot + 1;
    return at;
  }
  // Keys, then values, of page i. With nothing left to read it is an empty group, which keeps their count.
  __device__ __forceinline__ void send_keys(int i) {
    const unsigned to = take_slot();
    if (i < count) {
      if (i % 32 == 0) ids = next_ids, find_blocks(i + 32);
      block = __shfl_sync(0xffffffffu, ids, i % 32);
      Page<D>::template copy_keys<32>(to, block_at(), lane, 16);
    }
    tile::commit_copies();
  }
  __device__ __forceinline__ void send_values(int i) {
    const unsigned to = take_slot();
    if (i < count) {
      const int key = page(i) * page_keys, from = max(query.begin - key, 0);
      Page<D>::template copy_values<32>(to, block_at() + 2 * a.at.values(0, 0), lane, from,
                                        min(query.end - key, page_keys) - from);
    }
    tile::commit_copies();
  }
  template <int unit>
  __device__ __forceinline__ void send(int i) {  // unit 0: page i's keys, 1: its values, 2: i + 1's keys ..
    if constexpr (unit % 2 == 0) send_keys(i + unit / 2);
    else send_values(i + unit / 2);
  }
};

struct HeadTile {  // heads of a kv head that are one block's
  int kv_head, first, count;
  __device__ HeadTile(const PagedTask& a, int index, int rows) {
    const int tiles = (a.group + rows - 1) / rows, tile = index % tiles;
    kv_head = index / tiles, first = kv_head * a.group + tile * rows, count = min(rows, a.group - tile * rows);
  }
};

// The queries as the left operand, times the scale: in registers, or written to shared memory once. Up to 8 heads: the
// second halves are rows 8 to 15; `tall`: up to 16, and a second operand.
template <int D, bool tall> struct QueryOperand {
  static constexpr int rows = tall ? 16 : 8, parts = tall ? 2 : 1, steps = D / 16;
  static constexpr bool kept = D > 128;  // in shared memory, as rows of halves and then what is left of them
  static constexpr int stride = 2 * D + 16, shared_bytes = kept ? 2 * rows * stride : 0;
  unsigned registers[parts][kept ? 1 : steps][4];
  unsigned memory;

  // `q`: the block's first head; `heads` are there, the other rows are zeros. With `kept`, all threads call it.
  __device__ __forceinline__ QueryOperand(const PagedTask& a, const float* q, int heads, unsigned char* shared) {
    const int lane = int(threadIdx.x % 32);
    if constexpr (kept) {
      __half* const to = reinterpret_cast<__half*>(shared);
      for (int i = int(threadIdx.x); i < rows * D; i += int(blockDim.x)) {
        const int row = i / D, c = i % D;
        const float v = row < heads ? q[i] * a.scale : 0.0f;
        const __half high = __float2half_rn(v);
        to[row * (stride / 2) + c] = high,
                                to[(row + rows) * (stride / 2) + c] = __float2half_rn(v - __half2float(high));
      }
      __syncthreads();
      memory = shared_address(shared) + unsigned(lane % 16 * stride + lane / 16 * 16);
    } else {
#pragma unroll
      for (int s = 0; s < steps; ++s)
#pragma unroll
        for (int half = 0; half < 2; ++half)  // elements 0..7 and 8..15 of the step
#pragma unroll
          for (int row = 0; row < parts; ++row) {  // head lane / 4, and 8 more
            const int head = lane / 4 + 8 * row;
            float2 v = make_float2(0, 0);
            if (head < heads) v = *reinterpret_cast<const float2*>(q + head * D + s * 16 + half * 8 + lane % 4 * 2);
            v.x *= a.scale, v.y *= a.scale;
            const unsigned high = pack(v.x, v.y), rest = pack_rest(v.x, v.y);
            registers[0][s][2 * half + row] = high;
            if constexpr (tall) registers[1][s][2 * half + row] = rest;
            else registers[0][s][2 * half + 1] = rest;
          }
    }
  }
  template <int part> __device__ __forceinline__ void get(unsigned (&operand)[4], int step) const {
    if constexpr (kept) {
      load_matrices(operand, memory + part * 16 * stride + step * 32);
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) operand[i] = registers[part][step][i];
    }
  }
};

// Of one output value, or of four: its parts' sums and its row's maxima and totals, added up in their order.
template <class V> struct Merged {
  V value;
  float most, total;
};
__device__ __forceinline__ void add_times(float& to, float by, float v) { to = fmaf(by, v, to); }
__device__ __forceinline__ void add_times(float4& to, float by, const float4& v) {
  to = make_float4(fmaf(by, v.x, to.x), fmaf(by, v.y, to.y), fmaf(by, v.z, to.z), fmaf(by, v.w, to.w));
}
template <int most, class Sum, class Total> __device__ __forceinline__ auto merge(int count, Sum sum, Total total) {
  using V = decltype(sum(0));
  float2 t[most];  // loads that do not wait for each other
  V v[most];
#pragma unroll
  for (int i = 0; i < most; ++i)
    t[i] = i < count ? total(i) : make_float2(-INFINITY, 0), v[i] = i < count ? sum(i) : V{};
  Merged<V> m{V{}, -INFINITY, 0};
#pragma unroll
  for (int i = 0; i < most; ++i) m.most = fmaxf(m.most, t[i].x);
#pragma unroll
  for (int i = 0; i < most; ++i) {
    const float by = i < count ? exp2_fast(t[i].x - m.most) : 0.0f;
    add_times(m.value, by, v[i]), add_times(m.total, by, t[i].y);
  }
  return m;
}

}  // namespace tile
#endif

}  // namespace ridge::op
