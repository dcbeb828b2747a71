// cuBLASLt, loaded when it is first asked for: a machine without it still runs, by other kernels. Matrix products of
// row-major matrices, y = x W^T (+ bias), with the algorithm kept for each shape.
#pragma once
#include <cstdint>
#include <string>

#include "base/function_ref.h"
#include "cuda/launch.h"

namespace ridge::cuda {

enum class Number : std::uint8_t { f32, f16, bf16 };

// y (rows, outputs) f32 = x (rows, columns) W (outputs, columns)^T + bias. Sums are in f32; f32 operands are multiplied
// as f32, never as tf32.
struct Product {
  Number number = Number::bf16;  // of x and w
  std::int64_t rows = 0, outputs = 0, columns = 0;
  const void* x = nullptr;
  std::int64_t x_stride = 0;  // elements from row to row
  const void* w = nullptr;
  std::int64_t w_stride = 0;
  float* y = nullptr;
  std::int64_t y_stride = 0;
  const float* bias = nullptr;  // (outputs), or null
};

inline constexpr std::int64_t cublaslt_workspace_bytes = 32 << 20;  // what NVIDIA advises for Hopper

// Why there is no cuBLASLt for this thread's device; empty where there is. The first call loads the library and makes
// a handle, which must not happen while a graph is being recorded: ask before.
const std::string& why_no_cublaslt();

// Puts the product on the stream. `workspace`: cublaslt_workspace_bytes of scratch, 256-byte aligned. False, and
// nothing done, where cuBLASLt has no algorithm for this shape.
bool multiply(const Launch& on, const Product& product, std::byte* workspace);

// Which of the algorithms that cuBLASLt proposes for a shape is kept: an index below `count`, best guess first. Asked
// once for each shape, and not while a graph is recorded; `run(i)` puts the product on the stream with algorithm i.
using PickAlgorithm = int (*)(const Launch& on, const Product&, int count, FunctionRef<bool(int)> run);
void pick_algorithms_with(PickAlgorithm pick);  // null, as at first: always the first that runs

}  // namespace ridge::cuda
