// Which GPU kernel a call gets.
#include "base/error.h"
#include "op/attention/attention.h"
#include "op/attention/cuda_kernels.h"

namespace ridge::op {
namespace {

// A step of one query to each sequence is decode's; of any other, its sequences of one query are, and prefill has the
// others.
void attention_tiles_cuda(const ir::CudaBound& b) {
  const std::int64_t sequences = b.in[3].dim(0);
  if (b.in[0].rows() == sequences) return attention_decode_cuda(b, Queries::each);
  if (sequences > 1) attention_decode_cuda(b, Queries::lone);
  attention_prefill_cuda(b);
}

// Why the kernels on tensor cores do not serve a call; "" when they do.
std::string not_tiles(const ir::Program& p, const ir::Call& c, const ir::Target& target) {
  constexpr std::int64_t most_grid = 65535;  // blocks along y or z
  if (c.in.size() != 5) return "no cache";
  const ir::ValueInfo& state = p[c.in[1]];
  const std::int64_t d = state.shape[4].size, kv_heads = state.shape[2].size,
                     group = p[c.in[0]].shape[1].size / d / kv_heads;
  if (state.dtype != DType::f16) return fmt::format("{} cache", name(state.dtype));
  if (state.shape[3].size != page_keys) return fmt::format("blocks of {} tokens", state.shape[3].size);
  if (target.gpu.arch < 80) return "no products of halves in tiles of 16 before sm_80";
  if (!has_prefill_cuda(d, target.gpu.arch)) return fmt::format("heads of {}", d);
  if (p[c.out[0]].dtype == DType::q8_act && d % 32 != 0) return "int8 blocks that cross heads";
  if (target.most.tokens * group / 64 + target.most.sequences >= most_grid || kv_heads * group >= most_grid)
    return "a step too large for one grid";
  return "";
}

}  // namespace

ir::KernelChoice choose_attention_cuda(const ir::Program& p, const ir::Call& c, const ir::Target& target) {
  const std::int64_t columns = p[c.in[0]].shape[1].size;
  if (const std::string reason = not_tiles(p, c, target); !reason.empty()) {
    const bool q8 = p[c.out[0]].dtype == DType::q8_act;  // its rows are made as floats first
    return {.kernel = "attention/plain sm80",
            .reason = reason + ": a block to a query and head",
            .scratch_bytes = q8 ? target.most.of(p[c.in[0]].shape[0]) * columns * 4 : 0,
            .launch = attention_plain_cuda};
  }
  const Shape& state = p[c.in[1]].shape;
  const std::int64_t d = state[4].size, kv_heads = state[2].size;
  return {.kernel = "attention/tiles sm80",
          .reason = target.gpu.arch >= 90
                        ? "decode: a cluster to a query and kv head; prompts: tiles of 64 or 128 rows"
                        : "decode: contexts in shares, then added up; prompts: tiles of 64 or 128 rows",
          .scratch_bytes = attention_decode_scratch(d, columns / d, kv_heads, target),
          .launch = attention_tiles_cuda,
          .rounding = 1e-3};
}

}  // namespace ridge::op
