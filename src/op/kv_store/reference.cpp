#include "op/kv_store/kernels.h"
#include "op/kv_store/kv_layout.h"
#include "tensor/float16.h"

namespace ridge::op {

void kv_store_ref(const ir::Bound& b) {
  const View state = b.out[0], slots = b.in[3];
  const KvLayout at(state);
  auto store = [&](std::int64_t index, float value) {
    if (state.dtype == DType::f16) state.as<std::uint16_t>()[index] = float_to_half(value);
    else state.as<float>()[index] = value;
  };
  for (std::int64_t t = 0; t < slots.dim(0); ++t) {
    const std::int64_t slot = slots.as<std::int32_t>()[t];
    if (slot < 0) continue;
    const std::int64_t block = slot / at.block_size, place = slot % at.block_size;
    for (std::int64_t h = 0; h < at.heads; ++h)
      for (std::int64_t i = 0; i < at.head_dim; ++i) {
        store(at.keys(block, h) + at.key_at(place, i), b.in[1].row_as<float>(t)[h * at.head_dim + i]);
        store(at.values(block, h) + at.value_at(place, i), b.in[2].row_as<float>(t)[h * at.head_dim + i]);
      }
  }
}

}  // namespace ridge::op
