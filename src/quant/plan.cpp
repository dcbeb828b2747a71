#include "quant/plan.h"

#include "base/error.h"
#include "io/quote.h"

namespace ridge::quant {
namespace {

// Matrices that llama.cpp keeps exact: small, or read where its kernels want floats.
constexpr std::string_view exact_parts[] = {"_norm.weight", "ffn_gate_inp", "position_embd", "token_types", "ssm_conv1d", "ssm_a",
                                            "ssm_d", "time_mix_", "attn_rel_b", "shortconv.conv", "altup", "laurel", "rope_f"};

bool stays_exact(std::string_view name, std::size_t rank) {
  if (rank < 2 || !name.ends_with(".weight")) return true;
  for (std::string_view part : exact_parts)
    if (name.find(part) != name.npos) return true;
  return false;
}

DType smaller_blocks(DType type) {
  switch (type) {
    case DType::q4_k: return DType::q5_0;
    case DType::q5_k: return DType::q5_1;
    case DType::q6_k: return DType::q8_0;
    default: return DType::f16;
  }
}

}  // namespace

bool is_head(std::string_view name, bool has_output) { return name == (has_output ? "output.weight" : "token_embd.weight"); }

DType type_for(std::string_view name, std::span<const std::int64_t> shape, bool head, const ConvertOptions& options,
               std::vector<std::string>& fallbacks) {
  if (stays_exact(name, shape.size())) return DType::f32;
  const std::int64_t columns = shape.back();
  DType type = options.type;
  if (head && options.head == HeadType::finer && is_block(type) && type != DType::q8_0)
    type = columns % info(DType::q6_k).block_elems == 0 ? DType::q6_k : DType::q8_0;
  const DType wanted = type;
  while (columns % info(type).block_elems != 0) type = smaller_blocks(type);
  if (type != wanted)
    fallbacks.push_back(fmt::format("tensor {} has rows of {}, which {}'s blocks of {} do not divide: it becomes {}", io::quote(name),
                                    columns, ridge::name(wanted), info(wanted).block_elems, ridge::name(type)));
  return type;
}

std::uint32_t file_type(DType type) {  // llama.h: enum llama_ftype
  switch (type) {
    case DType::f32: return 0;
    case DType::f16: return 1;
    case DType::q4_0: return 2;
    case DType::q4_1: return 3;
    case DType::q8_0: return 7;
    case DType::q5_0: return 8;
    case DType::q5_1: return 9;
    case DType::q4_k: return 14;  // "small": not the mixture that "medium" is
    case DType::q5_k: return 16;
    case DType::q6_k: return 18;
    case DType::bf16: return 32;
    case DType::mxfp4: return 38;
    default: fail_bug("no GGUF file is mostly {}", name(type));
  }
}

}  // namespace ridge::quant
