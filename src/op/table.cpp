#include "op/table.h"

#include "op/add/add.h"
#include "op/attention/attention.h"
#include "op/embedding/embedding.h"
#include "op/expert_linear/expert_linear.h"
#include "op/fused_linear/fused_linear.h"
#include "op/kv_store/kv_store.h"
#include "op/layer_norm/layer_norm.h"
#include "op/linear/linear.h"
#include "op/quantize/quantize.h"
#include "op/rms_norm/rms_norm.h"
#include "op/rope/rope.h"
#include "op/rope_store/rope_store.h"
#include "op/route/route.h"
#include "op/sampling/sampling.h"
#include "op/scale_columns/scale_columns.h"
#include "op/select_rows/select_rows.h"
#include "op/silu_gate/silu_gate.h"
#include "op/unary/unary.h"

namespace ridge::op {

// The cases of each op: its cases.cpp.
std::vector<Case> add_cases();
std::vector<Case> attention_cases();
std::vector<Case> embedding_cases();
std::vector<Case> expert_linear_cases();
std::vector<Case> fused_linear_cases();
std::vector<Case> kv_store_cases();
std::vector<Case> layer_norm_cases();
std::vector<Case> linear_cases();
std::vector<Case> quantize_cases();
std::vector<Case> rms_norm_cases();
std::vector<Case> rope_angles_cases();
std::vector<Case> rope_cases();
std::vector<Case> rope_store_cases();
std::vector<Case> route_cases();
std::vector<Case> sampling_cases();
std::vector<Case> scale_columns_cases();
std::vector<Case> select_rows_cases();
std::vector<Case> silu_gate_cases();
std::vector<Case> unary_cases();

namespace {
constexpr Row rows[] = {
    {&add_op, add_cases},
    {&attention_op, attention_cases},
    {&embedding_op, embedding_cases},
    {&expert_linear_op, expert_linear_cases},
    {&fused_linear_op, fused_linear_cases},
    {&kv_store_op, kv_store_cases},
    {&layer_norm_op, layer_norm_cases},
    {&linear_op, linear_cases},
    {&quantize_op, quantize_cases},
    {&rms_norm_op, rms_norm_cases},
    {&rope_angles_op, rope_angles_cases},
    {&rope_op, rope_cases},
    {&rope_store_op, rope_store_cases},
    {&route_op, route_cases},
    {&sampling_op, sampling_cases},
    {&scale_columns_op, scale_columns_cases},
    {&select_rows_op, select_rows_cases},
    {&silu_gate_op, silu_gate_cases},
    {&unary_op, unary_cases},
};
}  // namespace

std::span<const Row> table() { return rows; }

const Row* find(std::string_view name) {
  for (const Row& r : rows)
    if (r.op->name == name) return &r;
  return nullptr;
}

}  // namespace ridge::op
