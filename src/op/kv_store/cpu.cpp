#include "op/kv_store/kernels.h"
#include "op/kv_store/kv_layout.h"
#include "op/share.h"
#include "tensor/float16.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "op/kv_store/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "op/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ridge::op::HWY_NAMESPACE {
namespace {

HWY_INLINE void convert(const float* from, float* to, std::int64_t n) { std::copy_n(from, n, to); }
HWY_INLINE void convert(const float* from, std::uint16_t* to, std::int64_t n) {
  std::int64_t i = 0;
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  const hn::Rebind<hwy::float16_t, D> dh;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(hn::DemoteTo(dh, hn::LoadU(D(), from + i)), dh, reinterpret_cast<hwy::float16_t*>(to) + i);
#endif
  for (; i < n; ++i) to[i] = float_to_half(from[i]);
}

// Tokens first .. first + run - 1, which lie one after the other in one block, starting at `slot`.
template <class T>
void store_run(const ir::Bound& b, const KvLayout& at, std::int64_t first, std::int64_t run, std::int64_t slot) {
  constexpr std::int64_t most_run = 16, most_elems = 64;
  const std::int64_t block = slot / at.block_size, place = slot % at.block_size;
  T* const state = b.out[0].as<T>();
  for (std::int64_t h = 0; h < at.heads; ++h) {
    for (std::int64_t t = 0; t < run; ++t)
      convert(b.in[2].row_as<float>(first + t) + h * at.head_dim,
              state + at.values(block, h) + at.value_at(place + t, 0), at.head_dim);
    T* const keys = state + at.keys(block, h);
    for (std::int64_t t0 = 0; t0 < run; t0 += most_run)  // turned over in tiles, so that stores go along the block
      for (std::int64_t e0 = 0; e0 < at.head_dim; e0 += most_elems) {
        T tile[most_run][most_elems];
        const std::int64_t tokens = HWY_MIN(most_run, run - t0), elems = HWY_MIN(most_elems, at.head_dim - e0);
        for (std::int64_t t = 0; t < tokens; ++t)
          convert(b.in[1].row_as<float>(first + t0 + t) + h * at.head_dim + e0, tile[t], elems);
        for (std::int64_t e = 0; e < elems; ++e)
          for (std::int64_t t = 0; t < tokens; ++t) keys[at.key_at(place + t0 + t, e0 + e)] = tile[t][e];
      }
  }
}

void store_rows(const ir::Bound& b) {
  const KvLayout at(b.out[0]);
  const std::int32_t* const slots = b.in[3].as<std::int32_t>();
  const bool halves = b.out[0].dtype == DType::f16;
  share_rows(b.pool, b.in[3].dim(0), 2 * at.heads * at.head_dim * (halves ? 6 : 8),
             [&](std::int64_t begin, std::int64_t end, int) {
               for (std::int64_t t = begin; t < end;) {
                 std::int64_t run = 1;
                 const std::int64_t slot = slots[t],
                                    block_end = slot < 0 ? 0 : (slot / at.block_size + 1) * at.block_size;
                 while (t + run < end && slot + run < block_end && slots[t + run] == slot + run) ++run;
                 if (slot >= 0 && halves) store_run<std::uint16_t>(b, at, t, run, slot);
                 if (slot >= 0 && !halves) store_run<float>(b, at, t, run, slot);
                 t += run;
               }
             });
}

}  // namespace
}  // namespace ridge::op::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::op {
ir::CpuKernel kv_store_cpu(SimdLevel level) { return RIDGE_AT_LEVEL(level, store_rows); }
}  // namespace ridge::op
#endif
