#include "op/table_cuda.h"

#include "base/error.h"

namespace ridge::op {

using Choose = ir::KernelChoice(const ir::Program&, const ir::Call&, const ir::Target&);

// Each op's own: its folder's *_cuda.cpp or *_sm80.cu.
Choose choose_add_cuda, choose_attention_cuda, choose_embedding_cuda, choose_fused_linear_cuda, choose_kv_store_cuda,
    choose_layer_norm_cuda, choose_linear_cuda, choose_quantize_cuda, choose_rms_norm_cuda, choose_rope_angles_cuda,
    choose_rope_cuda, choose_rope_store_cuda, choose_route_cuda, choose_sampling_cuda, choose_expert_linear_cuda,
    choose_scale_columns_cuda, choose_select_rows_cuda, choose_silu_gate_cuda, choose_unary_cuda;

namespace {
struct Row {
  std::string_view op;
  Choose* choose;
};
constexpr Row rows[] = {
    {"add", choose_add_cuda},
    {"attention", choose_attention_cuda},
    {"embedding", choose_embedding_cuda},
    {"expert_linear", choose_expert_linear_cuda},
    {"fused_linear", choose_fused_linear_cuda},
    {"kv_store", choose_kv_store_cuda},
    {"layer_norm", choose_layer_norm_cuda},
    {"linear", choose_linear_cuda},
    {"quantize", choose_quantize_cuda},
    {"rms_norm", choose_rms_norm_cuda},
    {"rope", choose_rope_cuda},
    {"rope_angles", choose_rope_angles_cuda},
    {"rope_store", choose_rope_store_cuda},
    {"route", choose_route_cuda},
    {"sampling", choose_sampling_cuda},
    {"scale_columns", choose_scale_columns_cuda},
    {"select_rows", choose_select_rows_cuda},
    {"silu_gate", choose_silu_gate_cuda},
    {"unary", choose_unary_cuda},
};
}  // namespace

ir::KernelChoice choose_cuda(const ir::Program& p, const ir::Call& c, const ir::Target& target) {
  for (const Row& row : rows)
    if (row.op == c.op->name) return row.choose(p, c, target);
  fail_machine("{}: there is no kernel for GPUs yet; --device cpu runs it", c.text());
}

}  // namespace ridge::op
