#include "op/embedding/embedding.h"
#include "op/store_row.cuh"
#include "op/weight_value.cuh"

namespace ridge::op {
namespace {

template <DType type> struct Row {
  const std::int32_t* tokens;
  DeviceMatrix table;
  float scale;
  __device__ float operator()(std::int64_t r, std::int64_t c) const {
    const float v = weight_value<type>(table, tokens[r], c);
    return scale == 1 ? v : __fmul_rn(v, scale);
  }
};

void embedding_cuda(const ir::CudaBound& b) {
  with_weight_type(b.in[1].dtype, [&]<DType type>() {
    launch_each_value(b, b.out[0],
                      Row<type>{b.in[0].as<std::int32_t>(), device_matrix(b.in[1]), b.as<EmbeddingParams>().scale});
  });
}

}  // namespace

ir::KernelChoice choose_embedding_cuda(const ir::Program&, const ir::Call&, const ir::Target&) {
  return {.kernel = "embedding/sm80", .reason = "decodes each row where it lies", .launch = embedding_cuda};
}

}  // namespace ridge::op
