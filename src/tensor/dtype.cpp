#include "tensor/dtype.h"

#include <cctype>

#include "base/error.h"
#include "tensor/decode.h"

namespace ridge {
namespace {

constexpr DTypeInfo table[] = {
    {DType::f32, "F32", 1, 4, decode_f32, encode_f32},
    {DType::f16, "F16", 1, 2, decode_f16, encode_f16},
    {DType::bf16, "BF16", 1, 2, decode_bf16, encode_bf16},
    {DType::f8_e4m3, "F8_E4M3", 1, 1, decode_f8_e4m3, encode_f8_e4m3},
    {DType::i32, "I32", 1, 4, nullptr, nullptr},
    {DType::u8, "U8", 1, 1, nullptr, nullptr},
    {DType::q8_0, "Q8_0", 32, 34, decode_q8_0, encode_q8_0},
    {DType::q4_0, "Q4_0", 32, 18, decode_q4_0, encode_q4_0},
    {DType::q4_1, "Q4_1", 32, 20, decode_q4_1, encode_q4_1},
    {DType::q5_0, "Q5_0", 32, 22, decode_q5_0, encode_q5_0},
    {DType::q5_1, "Q5_1", 32, 24, decode_q5_1, encode_q5_1},
    {DType::q2_k, "Q2_K", 256, 84, decode_q2_k, nullptr},
    {DType::q3_k, "Q3_K", 256, 110, decode_q3_k, nullptr},
    {DType::q4_k, "Q4_K", 256, 144, decode_q4_k, encode_q4_k},
    {DType::q5_k, "Q5_K", 256, 176, decode_q5_k, encode_q5_k},
    {DType::q6_k, "Q6_K", 256, 210, decode_q6_k, encode_q6_k},
    {DType::iq4_nl, "IQ4_NL", 32, 18, decode_iq4_nl, nullptr},
    {DType::iq4_xs, "IQ4_XS", 256, 136, decode_iq4_xs, nullptr},
    {DType::mxfp4, "MXFP4", 32, 17, decode_mxfp4, encode_mxfp4},
    {DType::q8_act, "Q8_ACT", 32, 44, decode_q8_act, encode_q8_act},
};

constexpr bool in_order() {
  for (int i = 0; i < int(std::size(table)); ++i)
    if (int(table[i].id) != i) return false;
  return true;
}
static_assert(in_order());

}  // namespace

const DTypeInfo& info(DType type) { return table[int(type)]; }
std::span<const DTypeInfo> all_dtypes() { return table; }

std::optional<DType> dtype_named(std::string_view name) {
  for (const DTypeInfo& t : table) {
    if (t.name.size() != name.size()) continue;
    bool same = true;
    for (std::size_t i = 0; i < name.size(); ++i) same = same && std::toupper((unsigned char)name[i]) == t.name[i];
    if (same) return t.id;
  }
  return std::nullopt;
}

std::int64_t row_bytes(DType type, std::int64_t elems) {
  const DTypeInfo& t = info(type);
  return (elems + t.block_elems - 1) / t.block_elems * t.block_bytes;
}

}  // namespace ridge
