// Many rows of x: products through cuBLASLt. Operands that it does not multiply as they are become halves first: x in
// whole, weights a slab of rows at a time.
#include <algorithm>
#include <vector>

#include "base/error.h"
#include "cuda/cublaslt.h"
#include "op/linear/cuda_kernels.h"

namespace ridge::op {
namespace {

std::int64_t aligned(std::int64_t n) { return (n + 255) / 256 * 256; }

// What x and a weight are multiplied as. f8 has fewer bits than bf16; block formats have up to 8 bits and a scale, of
// which f16 keeps more.
cuda::Number number_of(DType weight) {
  switch (weight) {
    case DType::f32: return cuda::Number::f32;
    case DType::bf16:
    case DType::f8_e4m3: return cuda::Number::bf16;
    default: return cuda::Number::f16;
  }
}
Half half_of(cuda::Number n) { return n == cuda::Number::bf16 ? Half::bf16 : Half::f16; }
bool lies_as(DType weight, cuda::Number n) {
  return n == cuda::Number::f32 || (n == cuda::Number::bf16 && weight == DType::bf16) ||
         (n == cuda::Number::f16 && weight == DType::f16);
}

// Slabs of about equal size, at most 64 MiB.
std::int64_t slab_rows(std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t most_bytes = 64 << 20, step = 64;
  const std::int64_t most = std::max(step, most_bytes / (2 * half_stride(columns)) / step * step);
  const std::int64_t slabs = std::max<std::int64_t>(1, (rows + most - 1) / most);
  return std::min(rows, ((rows + slabs - 1) / slabs + step - 1) / step * step);
}

// Where things are in the scratch memory.
struct Scratch {
  std::int64_t bf16_rows = 0, f16_rows = 0, scale = 0, slab = 0, workspace = 0, bytes = 0;
  Scratch(std::int64_t columns, std::span<const LinearWeight> weights, std::int64_t tokens) {
    std::int64_t bf16 = 0, f16 = 0, widest = 0;
    const std::int64_t halves = aligned(tokens * half_stride(columns) * 2);
    for (const LinearWeight& w : weights) {
      const cuda::Number n = number_of(w.dtype);
      if (n == cuda::Number::bf16) bf16 = halves;
      if (n == cuda::Number::f16) f16 = halves;
      if (!lies_as(w.dtype, n))
        widest = std::max(widest, aligned(slab_rows(w.rows, columns) * half_stride(columns) * 2));
    }
    f16_rows = bf16_rows + bf16;
    scale = f16_rows + f16;
    slab = scale + (f16 > 0 ? aligned(tokens * std::int64_t(sizeof(float))) : 0);
    workspace = slab + widest;
    bytes = workspace + cuda::cublaslt_workspace_bytes;
  }
};

struct Large {
  const ir::CudaBound& b;
  Scratch at;
  bool has_bf16 = false, has_f16 = false;  // x lies there

  std::byte* place(std::int64_t offset) const { return b.scratch.data() + offset; }
  float* scale() const { return reinterpret_cast<float*>(place(at.scale)); }

  const std::byte* x_as(cuda::Number n) {
    if (n == cuda::Number::f32) return b.in[0].data;
    bool& has = n == cuda::Number::bf16 ? has_bf16 : has_f16;
    std::byte* const rows = place(n == cuda::Number::bf16 ? at.bf16_rows : at.f16_rows);
    if (!has) linear_narrow_rows(b.on, b.in[0], half_of(n), rows, n == cuda::Number::f16 ? scale() : nullptr);
    has = true;
    return rows;
  }

  // False where cuBLASLt can not.
  bool multiply(const View& weight, const View& bias, const View& out) {
    const cuda::Number n = number_of(weight.dtype);
    if (n == cuda::Number::f32 && b.in[0].dtype != DType::f32) return false;
    const std::int64_t columns = weight.dim(1), rows = weight.dim(0), stride = half_stride(columns);
    const bool as_it_is = lies_as(weight.dtype, n), bias_last = n == cuda::Number::f16;  // after the rows' scales
    cuda::Product p{.number = n, .rows = b.in[0].rows(), .outputs = rows, .columns = columns};
    p.x = x_as(n), p.x_stride = n == cuda::Number::f32 ? columns : stride;
    p.w = weight.data, p.w_stride = columns;
    p.y = out.as<float>(), p.y_stride = rows;
    p.bias = bias_last ? nullptr : bias.as<float>();
    const std::int64_t step = as_it_is ? rows : slab_rows(rows, columns);
    for (std::int64_t first = 0; first < rows; first += step) {
      p.outputs = std::min(step, rows - first);
      if (!as_it_is) {
        linear_widen_weight(b.on, weight, first, p.outputs, place(at.slab));
        p.w = place(at.slab), p.w_stride = stride;
      }
      if (!cuda::multiply(b.on, p, place(at.workspace))) return false;
      p.y += p.outputs;
      if (p.bias) p.bias += p.outputs;
    }
    if (bias_last) linear_scale_rows(b.on, out, scale(), bias.as<float>());
    return true;
  }
};

}  // namespace

std::int64_t large_scratch_bytes(std::int64_t columns, std::span<const LinearWeight> weights, std::int64_t tokens) {
  return Scratch(columns, weights, tokens).bytes;
}

void linear_large_cuda(const ir::CudaBound& b) {
  std::vector<LinearWeight> weights;
  for (std::size_t s = 0; s < b.out.size(); ++s) weights.push_back({b.in[1 + s].dtype, b.in[1 + s].dim(0)});
  Large large{b, Scratch(b.in[0].columns(), weights, b.in[0].rows())};
  if (std::int64_t(b.scratch.size()) < large.at.bytes)
    fail_bug("linear: {} bytes of scratch, {} are needed", b.scratch.size(), large.at.bytes);
  for (std::size_t s = 0; s < b.out.size(); ++s) {
    const View weight = b.in[1 + s], bias = b.in[1 + b.out.size() + s];
    if (large.multiply(weight, bias, b.out[s])) continue;
    const View in[] = {b.in[0], weight, bias};
    linear_plain_cuda({in, b.out.subspan(s, 1), b.params, b.on, {}});
  }
}

}  // namespace ridge::op
