// linear with block-quantized weights and few rows of int8 activations: which launches a call becomes.
#include <algorithm>
#include <vector>

#include "op/linear/cuda_kernels.h"
#include "op/linear/matvec_blocks.cuh"
#include "op/weight_value.cuh"

namespace ridge::op {
namespace {

using namespace matvec_blocks;

LaunchFormat launch_of(DType type) {
  const LaunchFormat legacy = legacy_launch(type);
  return legacy ? legacy : k_launch(type);
}

std::int64_t most_shared_bytes(int arch) {  // of a block, less what the system keeps
  const int kib = arch == 80 || arch == 87 ? 163 : arch >= 90 && arch < 120 ? 227 : 99;
  return std::int64_t(kib) << 10;
}

// Segments of one type.
bool launch_segments(const ir::CudaBound& b, const std::vector<std::size_t>& segments) {
  const View x = b.in[0];
  const DType type = b.in[1 + segments[0]].dtype;
  Task task{.x = x.as<unsigned>(), .tokens = int(x.rows()), .x_blocks = int((x.columns() + 31) / 32), .segments = int(segments.size())};
  task.pieces = (task.x_blocks + act_piece_blocks - 1) / act_piece_blocks;
  task.tile_step = warps / task.pieces, task.piece_step = warps % task.pieces;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const View weight = b.in[1 + segments[i]], bias = b.in[1 + b.out.size() + segments[i]];
    const DeviceMatrix m = device_matrix(weight);
    if (m.rows * m.row_blocks >= std::int64_t(1) << 28) return false;  // the kernel counts 16 bytes in an int
    task.row_blocks = int(m.row_blocks);
    Segment& s = task.segment[i];
    std::copy_n(m.plane, 4, s.plane);
    s.bias = bias.as<const float>(), s.out = b.out[segments[i]].as<float>(), s.rows = int(m.rows);
  }
  return launch_of(type)(b.on, task, most_shared_bytes(b.on.arch));
}

}  // namespace

bool has_blocks_kernel(DType weight) { return launch_of(weight) != nullptr; }

void linear_blocks_cuda(const ir::CudaBound& b) {
  const View x = b.in[0];
  if (x.rows() == 0) return;
  std::vector<std::size_t> waiting(b.out.size());
  for (std::size_t s = 0; s < waiting.size(); ++s) waiting[s] = s;
  while (!waiting.empty()) {  // a launch for each type
    const DType type = b.in[1 + waiting[0]].dtype;
    if (x.dtype != DType::q8_act || !launch_of(type)) no_weight_type(type);
    std::vector<std::size_t> now, later;
    for (std::size_t s : waiting) (b.in[1 + s].dtype == type && now.size() < most_segments ? now : later).push_back(s);
    if (b.on.arch < 80 || !launch_segments(b, now)) return linear_plain_cuda(b);  // no such instruction, or rows of x too long
    waiting = std::move(later);
  }
}

}  // namespace ridge::op
