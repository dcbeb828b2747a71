// linear with block-quantized weights and few rows of int8 activations: which launches a call becomes.
#include <algorithm>
#include <vector>

#include "cuda/shared_memory.h"
#include "op/device_matrix.h"
#include "op/linear/cuda_kernels.h"
#include "op/linear/fused_blocks.h"
#include "op/linear/matvec_blocks.cuh"

namespace ridge::op {
namespace {

using namespace matvec_blocks;

LaunchFormat launch_of(DType type) {
  const LaunchFormat legacy = legacy_launch(type);
  return legacy ? legacy : k_launch(type);
}

std::int64_t most_shared_bytes(int arch) {      // of a block, less what the system keeps
  return cuda::block_shared(arch) - (1 << 10);  // and less the squares of norms
}

struct Call {
  const cuda::Launch& on;
  View x;
  std::span<const View> weights, biases, out;
  Around around;
  bool fused = false;
};

// Segments of one type.
bool launch_segments(const Call& c, const std::vector<std::size_t>& segments) {
  const DType type = c.weights[segments[0]].dtype;
  Task task{.x = c.x.as<unsigned>(),
            .tokens = int(c.x.rows()),
            .x_blocks = int((c.x.columns() + 31) / 32),
            .segments = int(segments.size()),
            .fused = c.fused,
            .columns = int(c.x.columns()),
            .around = c.around};
  task.pieces = (task.x_blocks + act_piece_blocks - 1) / act_piece_blocks;
  task.tile_step = warps / task.pieces, task.piece_step = warps % task.pieces;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const View weight = c.weights[segments[i]], bias = c.biases[segments[i]];
    const DeviceMatrix m = device_matrix(weight);
    if (m.rows * m.row_blocks >= std::int64_t(1) << 28) return false;  // the kernel counts 16 bytes in an int
    task.row_blocks = int(m.row_blocks);
    Segment& s = task.segment[i];
    std::copy_n(m.plane, 4, s.plane);
    s.bias = bias.as<const float>(), s.rows = int(m.rows);
    s.out = c.around.gates ? c.around.out : c.out[segments[i]].as<float>();
  }
  if (ring_launch(c.on, type, task)) return true;
  return launch_of(type)(c.on, task, most_shared_bytes(c.on.arch));
}

// A launch for each type that is there and each eight segments of it.
bool launch_types(const Call& c) {
  std::vector<std::size_t> waiting(c.weights.size());
  for (std::size_t s = 0; s < waiting.size(); ++s) waiting[s] = s;
  while (!waiting.empty()) {
    const DType type = c.weights[waiting[0]].dtype;
    if (!launch_of(type)) no_weight_type(type);
    std::vector<std::size_t> now, later;
    for (std::size_t s : waiting) (c.weights[s].dtype == type && now.size() < most_segments ? now : later).push_back(s);
    if (!launch_segments(c, now)) return false;
    waiting = std::move(later);
  }
  return true;
}

}  // namespace

bool has_blocks_kernel(DType weight) { return launch_of(weight) != nullptr; }

void linear_blocks_cuda(const ir::CudaBound& b) {
  const View x = b.in[0];
  const std::size_t n = b.out.size();
  if (x.rows() == 0) return;
  if (x.dtype != DType::q8_act) no_weight_type(b.in[1].dtype);
  const Call call{b.on, x, b.in.subspan(1, n), b.in.subspan(1 + n, n), b.out, {}};
  if (b.on.arch < 80 || !launch_types(call)) linear_plain_cuda(b);  // no such instruction, or rows of x too long
}

bool fused_blocks_fits(std::span<const DType> weights, std::int64_t columns, std::int64_t tokens, int arch) {
  const bool sizes = tokens > 0 && tokens <= blocks_most_tokens && columns > 0 && columns % 32 == 0 &&
                     columns <= 1 << 20 &&
                     columns * 3 / 2 + (16 << 10) <= most_shared_bytes(arch);  // for one token: codes, entries, sums
  const bool gates = weights.size() == 2 && weights[0] == weights[1];
  return arch >= 80 && sizes && !weights.empty() && weights.size() <= most_segments && (weights.size() != 2 || gates) &&
         std::ranges::all_of(weights, has_blocks_kernel);
}

void fused_blocks_cuda(const ir::CudaBound& b, std::span<const View> weights, std::span<const View> biases,
                       const Around& around) {
  if (!launch_types({b.on, b.in[0], weights, biases, b.out, around, true}))
    cuda::check(cudaErrorInvalidConfiguration, "linear: a matrix too large for its kernel");
}

}  // namespace ridge::op
