#include "io/ggml_types.h"

#include <fmt/core.h>

namespace ridge::io {
namespace {

constexpr GgmlType table[] = {
    {0, "F32", 1, 4, DType::f32},
    {1, "F16", 1, 2, DType::f16},
    {2, "Q4_0", 32, 18, DType::q4_0},
    {3, "Q4_1", 32, 20, DType::q4_1},
    {4, "Q4_2", 16, 10, {}},  // 4, 5, 31..33 and 36..38 were removed from ggml; old files hold them
    {5, "Q4_3", 16, 12, {}},
    {6, "Q5_0", 32, 22, DType::q5_0},
    {7, "Q5_1", 32, 24, DType::q5_1},
    {8, "Q8_0", 32, 34, DType::q8_0},
    {9, "Q8_1", 32, 36, {}},
    {10, "Q2_K", 256, 84, DType::q2_k},
    {11, "Q3_K", 256, 110, DType::q3_k},
    {12, "Q4_K", 256, 144, DType::q4_k},
    {13, "Q5_K", 256, 176, DType::q5_k},
    {14, "Q6_K", 256, 210, DType::q6_k},
    {15, "Q8_K", 256, 292, {}},
    {16, "IQ2_XXS", 256, 66, {}},
    {17, "IQ2_XS", 256, 74, {}},
    {18, "IQ3_XXS", 256, 98, {}},
    {19, "IQ1_S", 256, 50, {}},
    {20, "IQ4_NL", 32, 18, DType::iq4_nl},
    {21, "IQ3_S", 256, 110, {}},
    {22, "IQ2_S", 256, 82, {}},
    {23, "IQ4_XS", 256, 136, DType::iq4_xs},
    {24, "I8", 1, 1, {}},
    {25, "I16", 1, 2, {}},
    {26, "I32", 1, 4, DType::i32},
    {27, "I64", 1, 8, {}},
    {28, "F64", 1, 8, {}},
    {29, "IQ1_M", 256, 56, {}},
    {30, "BF16", 1, 2, DType::bf16},
    {31, "Q4_0_4_4", 32, 18, {}},
    {32, "Q4_0_4_8", 32, 18, {}},
    {33, "Q4_0_8_8", 32, 18, {}},
    {34, "TQ1_0", 256, 54, {}},
    {35, "TQ2_0", 256, 66, {}},
    {36, "IQ4_NL_4_4", 32, 18, {}},
    {37, "IQ4_NL_4_8", 32, 18, {}},
    {38, "IQ4_NL_8_8", 32, 18, {}},
    {39, "MXFP4", 32, 17, DType::mxfp4},
    {40, "NVFP4", 64, 36, {}},
    {41, "Q1_0", 128, 18, {}},
    {42, "Q2_0", 64, 18, {}},
};

constexpr bool in_order() {
  for (std::uint32_t i = 0; i < std::size(table); ++i)
    if (table[i].id != i) return false;
  return true;
}
static_assert(in_order());

}  // namespace

const GgmlType* ggml_type(std::uint32_t id) { return id < std::size(table) ? &table[id] : nullptr; }

const GgmlType* ggml_type_of(DType type) {
  for (const GgmlType& t : table)
    if (t.dtype == type) return &t;
  return nullptr;
}

const GgmlType* ggml_type_named(std::string_view name) {
  for (const GgmlType& t : table)
    if (t.name == name) return &t;
  return nullptr;
}

std::string ggml_type_name(std::uint32_t id) {
  const GgmlType* known = ggml_type(id);
  return known ? known->name : fmt::format("type {}", id);
}

}  // namespace ridge::io
