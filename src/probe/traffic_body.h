// The traffic kernels, included once for each instruction set inside its target region. Needs: V (a vector of `width`
// bytes), load, store, stream (past the caches), fence, zero, bit_xor, multiply_add (of floats), every_float, fold.
constexpr std::int64_t step = 8 * width;
constexpr std::int64_t prefetch_ahead = 4096;  // bytes; a page, since hardware prefetchers stop at its end

template <bool prefetch> inline std::uint64_t read_slice(const Slice& s) {
  V sum[8];
  for (V& v : sum) v = zero();
  for (const std::byte *p = s.in, *end = s.in + s.bytes; p < end; p += step) {
    if constexpr (prefetch)
      for (std::int64_t line = 0; line < step; line += 64) __builtin_prefetch(p + prefetch_ahead + line);
    for (int k = 0; k < 8; ++k) sum[k] = bit_xor(sum[k], load(p + k * width));
  }
  for (int k = 1; k < 8; ++k) sum[0] = bit_xor(sum[0], sum[k]);
  return fold(sum[0]);
}

template <bool past_caches> inline void put(std::byte* p, V v) {
  if constexpr (past_caches) stream(p, v);
  else store(p, v);
}

template <bool past_caches> inline std::uint64_t write_slice(const Slice& s) {
  const V value = load(s.in);
  for (std::byte *p = s.out, *end = s.out + s.bytes; p < end; p += step)
    for (int k = 0; k < 8; ++k) put<past_caches>(p + k * width, value);
  if constexpr (past_caches) fence();
  return fold(value);
}

template <bool past_caches> inline std::uint64_t copy_slice(const Slice& s) {
  for (std::int64_t i = 0; i < s.bytes; i += step) {
    V v[8];
    for (int k = 0; k < 8; ++k) v[k] = load(s.in + i + k * width);
    for (int k = 0; k < 8; ++k) put<past_caches>(s.out + i + k * width, v[k]);
  }
  if constexpr (past_caches) fence();
  return std::uint64_t(s.out[0]);
}

inline std::uint64_t triad_slice(const Slice& s) {  // STREAM's: a[i] = b[i] + q * c[i]
  const V q = every_float(0.5f);
  for (std::int64_t i = 0; i < s.bytes; i += step)
    for (int k = 0; k < 8; ++k)
      store(s.out + i + k * width, multiply_add(q, load(s.in2 + i + k * width), load(s.in + i + k * width)));
  return std::uint64_t(s.out[0]);
}
