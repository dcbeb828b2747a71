// The GPU kernels of linear: the door for those who multiply, then each kernel for what choose_linear_cuda.cpp gives
// it.
#pragma once
#include <span>
#include <string>

#include "ir/op_info.h"
#include "op/silu_gate/silu_gate.h"

namespace ridge::op {

// What a call with these operands gets, for at most `tokens` rows of x.
struct LinearWeight {
  DType dtype;
  std::int64_t rows;
};
struct LinearPlan {
  std::string kernel, reason;
  std::int64_t scratch_bytes = 0;
  double rounding = 0;  // as in ir::KernelChoice
  bool exact = false;   // linear_exact_cuda is to run it, not linear_cuda
};
LinearPlan plan_linear_cuda(DType x, std::int64_t columns, std::span<const LinearWeight> weights, std::int64_t tokens,
                            const ir::Target& target);

// Bound as a call of linear is; picks the kernels by the number of rows of x. Scratch as planned for that many rows.
void linear_cuda(const ir::CudaBound&);
void linear_exact_cuda(const ir::CudaBound&);  // f32 products whatever the types and the number of rows

// Any types, any sizes: slow.
void linear_plain_cuda(const ir::CudaBound&);

// Few rows of f32 activations with weights of plain types: the weights stream by once for every 8 rows (4 or 2 where
// they are long). f32 products and sums; within a kernel a row's result has the same bits whatever rows are beside it.
inline constexpr std::int64_t matvec_best_tokens =
    4;  // beyond, tensor cores are faster where they can (smallm_sm90.cu)
bool has_matvec_kernel(DType weight, std::int64_t columns);  // rows of whole 16-byte vectors
void linear_matvec_cuda(const ir::CudaBound&);               // every segment has a kernel

// Up to 64 rows of f32 activations with weights of 8 or 16 bits, on tensor cores, from sm_90 on. x counts as the sum of
// `planes` halves: 2 leave an error of 2^-17 or less, 1 rounds it. A row's result is the same for all numbers of rows
// that have the same planes.
inline constexpr std::int64_t small_most_tokens = 64;
int small_planes(DType weight, std::int64_t columns, std::int64_t tokens, int arch);  // 0: no kernel
void linear_small_cuda(const ir::CudaBound&);                                         // every segment has one

// The same with what stands around the product (op/fused_linear): one launch.
struct Around {
  const float* norm = nullptr;  // weight of the norm of x, or null
  float eps = 0, offset = 0;
  const float* residual = nullptr;  // one segment: out = residual + scale * product
  float scale = 1;
  bool gates = false;  // two segments of equal rows: out = gate(first) * second
  GateKind gate = GateKind::silu;
  float* out = nullptr;  // of gates
};
// Whether all weights may be of this type and size: x and the norm fit into shared memory.
bool fused_matvec_fits(DType weight, std::int64_t columns, std::int64_t tokens, int arch);
// b: x is in[0]; the outputs are the segments' or, of gates, one. At most 8 segments, all of one type.
void fused_matvec_cuda(const ir::CudaBound& b, std::span<const View> weights, std::span<const View> biases,
                       const Around& around);

// The same (matvec_ring_sm80.cu), for up to 8 rows of x that fit into its shared memory beside the weights on
// their way.
bool ring_matvec_fits(DType weight, std::int64_t columns, std::int64_t tokens, int arch);
void ring_matvec_cuda(const ir::CudaBound& b, std::span<const View> weights, std::span<const View> biases,
                      const Around& around);

// The same (smallm_sm90.cu), for up to small_most_tokens rows, x as `small_planes` halves.
bool fused_small_fits(DType weight, std::int64_t columns, std::int64_t tokens, int arch);
void fused_small_cuda(const ir::CudaBound& b, std::span<const View> weights, std::span<const View> biases,
                      const Around& around);

// Rows of q8_act with weights in block formats (matvec_blocks_*.cu).
inline constexpr std::int64_t blocks_most_tokens = 16;
bool has_blocks_kernel(DType weight);
void linear_blocks_cuda(const ir::CudaBound&);

// Many rows, any types: through cuBLASLt, with x and the weights as f16 or bf16 (f32 weights: as f32). The sums' order,
// and so the last bits, follow the algorithm that cuBLASLt has for the number of rows.
std::int64_t large_scratch_bytes(std::int64_t columns, std::span<const LinearWeight> weights, std::int64_t tokens);
void linear_large_cuda(const ir::CudaBound&);

// What linear_large_cuda puts on the stream around the product (large_sm80.cu).
enum class Half : std::uint8_t { bf16, f16 };
std::int64_t half_stride(std::int64_t columns);  // elements from row to row of what the two below write
// Rows of x as halves. f16 reaches 65504 only: a row with larger values is divided by a power of two, kept in
// scale[row].
void linear_narrow_rows(const cuda::Launch& on, const View& x, Half to, std::byte* rows, float* scale);
// Rows [first, first + count) of a weight as halves: f8_e4m3 as bf16, block formats as f16.
void linear_widen_weight(const cuda::Launch& on, const View& weight, std::int64_t first, std::int64_t count,
                         std::byte* rows);
// out = out * scale[row] + bias; either may be null. Rows with scale 1 and no bias are not touched.
void linear_scale_rows(const cuda::Launch& on, const View& out, const float* scale, const float* bias);

}  // namespace ridge::op
