#include "op/select_rows/select_rows.h"
#include "op/store_row.cuh"

namespace ridge::op {
namespace {

__global__ void __launch_bounds__(256)
    copy_rows(const std::byte* x, const std::int32_t* rows, std::byte* out, std::int64_t row_words) {
  cuda::let_next_start();
  cuda::wait_for_previous();
  const std::int64_t r = blockIdx.x, i = std::int64_t(blockIdx.y) * blockDim.x + threadIdx.x;
  if (i < row_words)
    reinterpret_cast<std::uint32_t*>(out)[r * row_words + i] =
        reinterpret_cast<const std::uint32_t*>(x)[rows[r] * row_words + i];
}

void select_rows_cuda(const ir::CudaBound& b) {
  const std::int64_t words = b.out[0].row_bytes() / 4;  // rows of f32, or of blocks of 44 bytes
  cuda::launch(b.on, copy_rows, dim3(unsigned(b.out[0].rows()), unsigned((words + 255) / 256)), 256, 0, b.in[0].data,
               b.in[1].as<std::int32_t>(), b.out[0].data, words);
}

}  // namespace

ir::KernelChoice choose_select_rows_cuda(const ir::Program&, const ir::Call&, const ir::Target&) {
  return {.kernel = "select_rows/sm80", .reason = "a copy of each row", .launch = select_rows_cuda};
}

}  // namespace ridge::op
