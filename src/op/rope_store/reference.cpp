#include <vector>

#include "op/kv_store/kernels.h"
#include "op/rope/kernels.h"
#include "op/rope_store/kernels.h"

namespace ridge::op {

void rope_store_ref(const ir::Bound& b) {
  const View q = b.in[0], k = b.in[1], v = b.in[2], angles = b.in[3], slots = b.in[4], state = b.in[5];
  std::vector<std::byte> memory(std::size_t(k.bytes()) + 1);
  View rotated = k;
  rotated.data = memory.data();
  const View of_q[] = {q, angles}, of_k[] = {k, angles}, stored[] = {state, rotated, v, slots};
  rope_ref({of_q, b.out.first(1), b.params, b.pool, {}});
  rope_ref({of_k, {&rotated, 1}, b.params, b.pool, {}});
  kv_store_ref({stored, b.out.subspan(1), b.params, b.pool, {}});
}

}  // namespace ridge::op
