// The kernels, over the vectors and formats that were included before. A tile is `R` vectors of output rows (of one
// panel) times `T` rows of activations (tokens), over all columns.

struct Place {  // where a tile is
  std::int64_t panel;
  int lane;  // first row in the panel
  std::int64_t token;
};

// The tile's rows of activations, in forms that x86 addresses without a register for each.
struct Rows {
  const std::byte* x;
  std::int64_t stride, stride3;
  template <int T> RIDGE_INLINE const std::byte* at(std::int64_t offset) const {
    const std::byte* base = x + offset + (T / 4) * 4 * stride;
    return T % 4 == 3 ? base + stride3 : base + (T % 4) * stride;
  }
};

template <int R, int T> RIDGE_INLINE void clear(F (&sum)[R][T]) {
#pragma GCC unroll 2
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
    for (int t = 0; t < T; ++t) sum[r][t] = zero();
}

template <int R, int T> RIDGE_INLINE void store_tile(const LinearTask& task, const Place& at, const F (&sum)[R][T]) {
#pragma GCC unroll 2
  for (int r = 0; r < R; ++r) {
    const std::int64_t row = at.panel * panel_rows + at.lane + r * lanes;
    const int rows = int(std::min<std::int64_t>(lanes, task.rows - row));
#pragma GCC unroll 16
    for (int t = 0; t < T; ++t) store(task.out + (at.token + t) * task.out_stride + row, sum[r][t], rows);
  }
}

// Weights are streamed once: ask for what comes `prefetch_ahead` bytes later, so that no page end stops the stream.
constexpr int prefetch_ahead = RIDGE_PREFETCH;
template <int Bytes> RIDGE_INLINE void prefetch(const std::byte* p) {
#pragma GCC unroll 16
  for (int i = 0; i < (Bytes + 63) / 64; ++i) __builtin_prefetch(p + prefetch_ahead + 64 * i);
}

// ---- activations in int8 blocks ----

RIDGE_INLINE void flip(I* code) {  // unsigned codes of offset 128 to signed bytes
  const I top = every_byte(128);
#pragma GCC unroll 8
  for (int g = 0; g < 8; ++g) code[g] = bit_xor(code[g], top);
}

template <class W> RIDGE_INLINE I start_of(const ActBlock& x, int h) {  // -offset * sum of x over this half (or all)
  if constexpr (W::offset == 0 || signed_codes(W::max_code)) return every_int(0);
  constexpr std::uint32_t minus = std::uint32_t(-W::offset) & 0xffff;
  const std::uint32_t pair = W::halves == 1 ? minus << 16 | minus : h == 0 ? minus : minus << 16;
  return pair_dot(every_pair(x.sum), every_int(int(pair)));
}

template <class W> RIDGE_INLINE F add_block(const Part<W::halves>& w, const ActBlock& x, F sum) {
  constexpr int groups = 8 / W::halves;
#pragma GCC unroll 2
  for (int h = 0; h < W::halves; ++h) {
    const I total = dot<W::max_code, groups>(start_of<W>(x, h), w.code + h * groups, x.q + 16 * h);
    sum = fma(to_float(total), mul(w.scale[h], every(x.d)), sum);
    if constexpr (W::has_minimum && W::halves == 1) sum = fma(w.shift[0], every(x.d_sum), sum);
    if constexpr (W::has_minimum && W::halves == 2) {
      const I half_sum = pair_dot(every_pair(x.sum), every_int(h == 0 ? 1 : 1 << 16));
      sum = fma(w.shift[h], mul(to_float(half_sum), every(x.d)), sum);
    }
  }
  return sum;
}

template <class W, int T, int t = 0>
RIDGE_INLINE void add_blocks(const Part<W::halves>& w, const Rows& x, std::int64_t offset, F* sum) {
  if constexpr (t < T) {
    sum[t] = add_block<W>(w, *reinterpret_cast<const ActBlock*>(x.at<t>(offset)), sum[t]);
    add_blocks<W, T, t + 1>(w, x, offset, sum);
  }
}

template <class W, int R, int T> RIDGE_INLINE void q8_tile(const LinearTask& task, const Place& at) {
  constexpr const PanelLayout& l = W::layout;
  const std::int64_t blocks = (task.columns + 31) / 32, units = (blocks + l.parts() - 1) / l.parts();
  const std::byte* unit = task.panels + at.panel * units * l.unit_bytes();
  const Rows x{task.x + at.token * task.x_stride, task.x_stride, 3 * task.x_stride};
  F sum[R][T];
  clear(sum);
  for (std::int64_t block = 0; block < blocks; unit += l.unit_bytes()) {
    const int parts = int(std::min<std::int64_t>(l.parts(), blocks - block));
    for (int part = 0; part < parts; ++part, ++block) {
      prefetch<l.parts() == 1 ? l.unit_bytes() : l.part_bytes()>(unit + part * l.part_bytes());
#pragma GCC unroll 2
      for (int r = 0; r < R; ++r) {
        Part<W::halves> w;
        unpack<W>(unit, part, at.lane + r * lanes, w);
        if constexpr (signed_codes(W::max_code)) flip(w.code);
        add_blocks<W, T>(w, x, block * std::int64_t(sizeof(ActBlock)), sum[r]);
      }
    }
  }
  store_tile(task, at, sum);
}

// ---- activations in floats: even and odd columns are summed apart ----

template <int T, int t = 0> RIDGE_INLINE void add_column(F w, const Rows& x, std::int64_t offset, F* sum) {
  if constexpr (t < T) {
    float v;
    std::memcpy(&v, x.at<t>(offset), sizeof v);
    sum[t] = fma(w, every(v), sum[t]);
    add_column<T, t + 1>(w, x, offset, sum);
  }
}

template <class W, int T>
RIDGE_INLINE void add_part(const Part<W::halves>& w, const Rows& x, std::int64_t offset, F (&even)[T], F (&odd)[T]) {
#pragma GCC unroll 8
  for (int g = 0; g < 8; ++g) {
    const F scale = w.scale[g * W::halves / 8];
    const F shift = W::has_minimum ? w.shift[g * W::halves / 8] : mul(scale, every(-float(W::offset)));
    const std::int64_t at = offset + 16 * g;
    add_column<T>(fma(byte_to_float<0>(w.code[g]), scale, shift), x, at, even);
    add_column<T>(fma(byte_to_float<1>(w.code[g]), scale, shift), x, at + 4, odd);
    add_column<T>(fma(byte_to_float<2>(w.code[g]), scale, shift), x, at + 8, even);
    add_column<T>(fma(byte_to_float<3>(w.code[g]), scale, shift), x, at + 12, odd);
  }
}

template <int T> struct Tail {  // the last columns of each row, filled up with zeros
  float values[T][32] = {};
  Rows rows() const { return {reinterpret_cast<const std::byte*>(values), sizeof values[0], 3 * sizeof values[0]}; }
  Tail(const std::byte* x, std::int64_t stride, int columns) {
    for (int t = 0; t < T; ++t) std::memcpy(values[t], x + t * stride, std::size_t(columns) * sizeof(float));
  }
};

template <int R, int T>
RIDGE_INLINE void store_halves(const LinearTask& task, const Place& at, const F (&even)[R][T], const F (&odd)[R][T]) {
  F sum[R][T];
#pragma GCC unroll 2
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
    for (int t = 0; t < T; ++t) sum[r][t] = add(even[r][t], odd[r][t]);
  store_tile(task, at, sum);
}

template <class W, int R, int T> RIDGE_INLINE void f32_tile(const LinearTask& task, const Place& at) {
  constexpr const PanelLayout& l = W::layout;
  const std::int64_t blocks = (task.columns + 31) / 32, units = (blocks + l.parts() - 1) / l.parts();
  const std::byte* unit = task.panels + at.panel * units * l.unit_bytes();
  const std::byte* x = task.x + at.token * task.x_stride;
  F even[R][T], odd[R][T];
  clear(even), clear(odd);
  for (std::int64_t block = 0; block < blocks; ++block) {
    const int part = int(block % l.parts());
    const bool whole = 32 * block + 32 <= task.columns;
    for (int r = 0; r < R; ++r) {
      Part<W::halves> w;
      unpack<W>(unit, part, at.lane + r * lanes, w);
      if (whole) {
        add_part<W, T>(w, {x, task.x_stride, 3 * task.x_stride}, 128 * block, even[r], odd[r]);
      } else {
        const Tail<T> tail(x + 128 * block, task.x_stride, int(task.columns - 32 * block));
        add_part<W, T>(w, tail.rows(), 0, even[r], odd[r]);
      }
    }
    if (part == l.parts() - 1) unit += l.unit_bytes();
  }
  store_halves(task, at, even, odd);
}

template <class W, int R, int T> RIDGE_INLINE void plain_tile(const LinearTask& task, const Place& at) {
  constexpr int column_bytes = W::bytes * panel_rows;
  const std::byte* w = task.panels + at.panel * task.columns * column_bytes + at.lane * W::bytes;
  const Rows x{task.x + at.token * task.x_stride, task.x_stride, 3 * task.x_stride};
  F even[R][T], odd[R][T];
  clear(even), clear(odd);
  std::int64_t k = 0;
  for (; k + 2 <= task.columns; k += 2, w += 2 * column_bytes) {
    if (T <= 8) prefetch<2 * column_bytes>(w);
#pragma GCC unroll 2
    for (int r = 0; r < R; ++r) {
      add_column<T>(W::values(w + r * lanes * W::bytes), x, 4 * k, even[r]);
      add_column<T>(W::values(w + r * lanes * W::bytes + column_bytes), x, 4 * k + 4, odd[r]);
    }
  }
  if (k < task.columns)
    for (int r = 0; r < R; ++r) add_column<T>(W::values(w + r * lanes * W::bytes), x, 4 * k, even[r]);
  store_halves(task, at, even, odd);
}

// ---- walks ----

enum class Kind { q8, f32, plain };
// All rows of a panel times T tokens. With few tokens the whole panel goes at once, so that its lines stream by in
// order.
template <class W, Kind K, int T> RIDGE_INLINE void panel_tile(const LinearTask& task, Place at) {
  constexpr int all = panel_rows / lanes, R = T <= 2 && all <= 2 ? all : 1;
  for (at.lane = 0; at.lane < panel_rows; at.lane += R * lanes) {
    if constexpr (K == Kind::q8) q8_tile<W, R, T>(task, at);
    if constexpr (K == Kind::f32) f32_tile<W, R, T>(task, at);
    if constexpr (K == Kind::plain) plain_tile<W, R, T>(task, at);
  }
}

template <class W, Kind K, int T> RIDGE_INLINE void panel_tokens(const LinearTask& task, Place at, std::int64_t end) {
  for (; at.token + T <= end; at.token += T) panel_tile<W, K, T>(task, at);
  if constexpr (T > 1) panel_tokens<W, K, T / 2>(task, at, end);
}

// Tokens go in groups whose activations stay in the second-level cache while all panels pass.
template <class W, Kind K> void multiply(const LinearTask& task) {
  constexpr int tile = RIDGE_TILE_TOKENS;
  const std::int64_t fit = (std::int64_t(384) << 10) / task.x_stride / tile * tile,
                     group = std::max<std::int64_t>(fit, tile);
  for (std::int64_t first = 0; first < task.tokens; first += group)
    for (std::int64_t panel = task.first_panel; panel < task.last_panel; ++panel)
      panel_tokens<W, K, tile>(task, {panel, 0, first}, std::min(first + group, task.tokens));
}

template <class W> constexpr LinearKernels block_kernels() {
  return {W::layout.dtype, multiply<W, Kind::q8>, multiply<W, Kind::f32>};
}
template <class W> constexpr LinearKernels plain_kernels(DType type) {
  return {type, nullptr, multiply<W, Kind::plain>};
}

constexpr LinearKernels kernels[] = {
    plain_kernels<F32>(DType::f32),
    plain_kernels<F16>(DType::f16),
    plain_kernels<BF16>(DType::bf16),
    plain_kernels<F8>(DType::f8_e4m3),
    block_kernels<Q8_0>(),
    block_kernels<Q4_0>(),
    block_kernels<Q4_1>(),
    block_kernels<Q5_0>(),
    block_kernels<Q5_1>(),
    block_kernels<Q2_K>(),
    block_kernels<Q3_K>(),
    block_kernels<Q4_K>(),
    block_kernels<Q5_K>(),
    block_kernels<Q6_K>(),
    block_kernels<IQ4_NL>(),
    block_kernels<IQ4_XS>(),
    block_kernels<MXFP4>(),
};
