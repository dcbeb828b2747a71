// The property that lets an engine cut and batch as it likes: a query's row has the same bits whether its prompt came
// in one piece, in several, or token by token; alone or with others; on one thread or on many; paged or not.
#include "op/attention/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/thread_pool.h"
#include "op/attention/kernels.h"
#include "op/kv_store/kv_layout.h"
#include "tensor/float16.h"

namespace ridge::op {
namespace {

struct CacheSetup {
  std::string name;
  std::int64_t heads, kv_heads, d, block_size, tokens;
  DType state;
  AttentionParams params;
};

struct Part {  // of a step: queries [first, last) of sequence `sequence`
  int sequence;
  std::int64_t first, last;
};

float noise(std::uint64_t n) {
  n = (n + 1) * 0x9e3779b97f4a7c15u;
  n = (n ^ (n >> 30)) * 0xbf58476d1ce4e5b9u;
  n = (n ^ (n >> 27)) * 0x94d049bb133111ebu;
  return float(double(n >> 40) / double(1 << 23) - 1) * 3;
}

class Model {  // some sequences whose keys and values are all in the cache; a step asks for some of their queries
 public:
  static constexpr int sequences = 3;

  explicit Model(const CacheSetup& s, std::int64_t infinite_token = -1)  // whose key and value are infinities
      : setup_(s), blocks_((s.tokens + s.block_size - 1) / s.block_size), infinite_(infinite_token) {
    const std::int64_t elems = sequences * blocks_ * 2 * s.kv_heads * s.block_size * s.d;
    state_.resize(std::size_t(elems * row_bytes(s.state, 1)), std::byte(0xff));  // NaN where nothing was stored
    const KvLayout at(state());
    for (int b = 0; b < sequences; ++b)
      for (std::int64_t t = 0; t < s.tokens; ++t)
        for (std::int64_t h = 0; h < s.kv_heads; ++h)
          for (std::int64_t i = 0; i < s.d; ++i) {
            const std::int64_t block = table(b, t / s.block_size), place = t % s.block_size;
            store(at.keys(block, h) + at.key_at(place, i), key(b, t, h * s.d + i));
            store(at.values(block, h) + at.value_at(place, i), value(b, t, h * s.d + i));
          }
  }

  // Rows of the parts, one after the other.
  std::vector<std::byte> step(const std::vector<Part>& parts, ThreadPool& pool, DType out, SimdLevel level,
                              bool paged = true) const {
    const CacheSetup& s = setup_;
    std::vector<std::int32_t> start{0}, context, blocks;
    std::vector<float> q, k, v;
    for (const Part& p : parts) {
      start.push_back(start.back() + std::int32_t(p.last - p.first));
      context.push_back(std::int32_t(p.last));
      for (std::int64_t i = 0; i < blocks_; ++i) blocks.push_back(table(p.sequence, i));
      for (std::int64_t t = p.first; t < p.last; ++t) {
        for (std::int64_t i = 0; i < s.heads * s.d; ++i) q.push_back(noise(id(p.sequence, 0, t, i)));
        for (std::int64_t i = 0; i < s.kv_heads * s.d; ++i) k.push_back(key(p.sequence, t, i));
        for (std::int64_t i = 0; i < s.kv_heads * s.d; ++i) v.push_back(value(p.sequence, t, i));
      }
    }
    const std::int64_t rows = start.back(), columns = s.heads * s.d, count = std::int64_t(parts.size());
    std::vector<std::byte> result(std::size_t(rows * row_bytes(out, columns)), std::byte(0xff));
    const View q_view = view(q.data(), DType::f32, {rows, columns}),
               starts = view(start.data(), DType::i32, {count + 1});
    const std::vector<View> in =
        paged ? std::vector<View>{q_view, state(), starts, view(context.data(), DType::i32, {count}),
                                  view(blocks.data(), DType::i32, {count, blocks_})}
              : std::vector<View>{q_view, view(k.data(), DType::f32, {rows, s.kv_heads * s.d}),
                                  view(v.data(), DType::f32, {rows, s.kv_heads * s.d}), starts};
    const View out_view = view(result.data(), out, {rows, columns});
    static std::vector<std::byte> scratch(std::size_t(16) << 20, std::byte(0xff));
    std::byte* const aligned = scratch.data() + (64 - reinterpret_cast<std::uintptr_t>(scratch.data()) % 64) % 64;
    const ir::Params params(setup_.params);
    attention_cpu(level)(ir::Bound{in, {&out_view, 1}, params, pool, {aligned, scratch.size() - 64}});
    return result;
  }

 private:
  static View view(const void* data, DType type, std::initializer_list<std::int64_t> dims) {
    View v{.data = static_cast<std::byte*>(const_cast<void*>(data)), .dtype = type, .rank = int(dims.size())};
    std::copy(dims.begin(), dims.end(), v.dims.begin());
    return v;
  }
  View state() const {
    const CacheSetup& s = setup_;
    return view(state_.data(), s.state, {sequences * blocks_, 2, s.kv_heads, s.block_size, s.d});
  }
  std::int32_t table(int sequence, std::int64_t i) const {  // blocks of the sequences interleaved, in falling order
    return std::int32_t((blocks_ - 1 - i) * sequences + sequence);
  }
  static std::uint64_t id(int sequence, int what, std::int64_t token, std::int64_t i) {
    return (std::uint64_t(sequence * 3 + what) << 40) + (std::uint64_t(token) << 20) + std::uint64_t(i);
  }
  float key(int sequence, std::int64_t t, std::int64_t i) const {
    return t == infinite_ ? INFINITY : noise(id(sequence, 1, t, i));
  }
  float value(int sequence, std::int64_t t, std::int64_t i) const {
    return t == infinite_ ? INFINITY : noise(id(sequence, 2, t, i));
  }
  void store(std::int64_t index, float x) {
    if (setup_.state == DType::f16) reinterpret_cast<std::uint16_t*>(state_.data())[index] = float_to_half(x);
    else reinterpret_cast<float*>(state_.data())[index] = x;
  }

  const CacheSetup setup_;
  const std::int64_t blocks_, infinite_;
  std::vector<std::byte> state_;
};

std::vector<hw::Isa> levels() {  // one instruction set for each SIMD level that this machine has
  std::vector<hw::Isa> list;
  for (const hw::Isa& isa :
       {hw::native_isa(), hw::without(hw::native_isa(), "avx512"), hw::without(hw::native_isa(), "avx2")})
    if (list.empty() || simd_level(isa) != simd_level(list.back())) list.push_back(isa);
  return list;
}

class attention_bits : public testing::TestWithParam<CacheSetup> {};

TEST_P(attention_bits, depend_only_on_a_query_and_its_keys) {
  const CacheSetup& s = GetParam();
  const Model model(s);
  const std::int64_t n = s.tokens;
  ThreadPool one(1), four(4);
  for (const hw::Isa& isa : levels()) {
    const SimdLevel level = simd_level(isa);
    SCOPED_TRACE(name(level));
    for (DType out : {DType::f32, DType::q8_act}) {
      const std::size_t row = std::size_t(row_bytes(out, s.heads * s.d));
      const std::vector<std::byte> whole = model.step({{1, 0, n}}, one, out, level);
      EXPECT_EQ(whole, model.step({{1, 0, n}}, four, out, level)) << "four threads";

      std::vector<std::byte> pieces;
      for (std::int64_t first = 0, size = 1; first < n; first += size, size = size * 2 + 1) {
        const auto piece = model.step({{1, first, std::min(n, first + size)}}, four, out, level);
        pieces.insert(pieces.end(), piece.begin(), piece.end());
      }
      EXPECT_EQ(whole, pieces) << "growing pieces";

      for (std::int64_t t = n - 1; t >= 0; t = t > n - 3 ? t - 1 : t - 37) {  // decode, alone and among others
        const std::vector<std::byte> want(whole.begin() + std::ptrdiff_t(t) * std::ptrdiff_t(row),
                                          whole.begin() + (std::ptrdiff_t(t) + 1) * std::ptrdiff_t(row));
        EXPECT_EQ(want, model.step({{1, t, t + 1}}, t % 2 ? one : four, out, level)) << "token " << t;
        const auto mates = model.step({{0, 0, n / 2}, {1, t, t + 1}, {2, n - 1, n}}, four, out, level);
        const auto at = mates.begin() + std::ptrdiff_t(n / 2) * std::ptrdiff_t(row);
        EXPECT_EQ(want, std::vector<std::byte>(at, at + std::ptrdiff_t(row))) << "token " << t << " in a batch";
      }
      if (s.state != DType::f32) continue;
      EXPECT_EQ(whole, model.step({{1, 0, n}}, four, out, level, false)) << "uncached";
    }
  }
}

// A weight of zero times an infinity would be no zero: what a query does not see must not be multiplied.
TEST_P(attention_bits, infinities_reach_only_queries_that_see_them) {
  const CacheSetup& s = GetParam();
  const std::int64_t n = s.tokens, row = s.heads * s.d * std::int64_t(sizeof(float));
  const auto row_of = [&](const std::vector<std::byte>& rows, std::int64_t t) { return rows.data() + t * row; };
  ThreadPool four(4);
  for (const hw::Isa& isa : levels()) {
    SCOPED_TRACE(name(simd_level(isa)));
    for (bool paged : {true, false}) {
      if (!paged && s.state != DType::f32) continue;
      const auto finite = Model(s).step({{1, 0, n}}, four, DType::f32, simd_level(isa), paged);
      for (std::int64_t at : {std::int64_t(40), n - 20}) {
        const auto got = Model(s, at).step({{1, 0, n}}, four, DType::f32, simd_level(isa), paged);
        std::vector<std::int64_t> wrong;
        for (std::int64_t t = 0; t < n; ++t) {
          const bool sees = t >= at && (s.params.window == 0 || t - at < s.params.window);
          float first;
          std::memcpy(&first, row_of(got, t), sizeof first);
          const bool same = std::memcmp(row_of(finite, t), row_of(got, t), std::size_t(row)) == 0;
          if (sees ? std::isfinite(first) : !same) wrong.push_back(t);
        }
        EXPECT_EQ(wrong, std::vector<std::int64_t>()) << "queries, with an infinity at " << at << ", paged: " << paged;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    all, attention_bits,
    testing::Values(
        CacheSetup{"half", 9, 3, 64, 32, 600, DType::f16, {.head_dim = 64, .scale = 0.1f}},
        CacheSetup{"windowed", 9, 3, 64, 32, 600, DType::f32, {.head_dim = 64, .scale = 0.1f, .window = 270}},
        CacheSetup{"narrow", 4, 1, 32, 16, 530, DType::f16, {.head_dim = 32, .scale = 0.2f, .window = 5, .softcap = 4}},
        CacheSetup{"odd", 2, 2, 20, 7, 300, DType::f32, {.head_dim = 20, .scale = 0.2f, .softcap = 9}},
        CacheSetup{"shared", 14, 2, 16, 64, 320, DType::f16, {.head_dim = 16, .scale = 0.2f}}),
    [](const auto& setup) { return setup.param.name; });

}  // namespace
}  // namespace ridge::op
