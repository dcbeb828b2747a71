// What convert will write: each tensor with its type and where its values come from.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/model_files.h"
#include "io/safetensors_write.h"
#include "quant/convert.h"

namespace ridge::quant {

struct PlannedTensor {
  io::TensorSpec spec;
  std::vector<const io::TensorEntry*> sources;  // one, or one for each slice of the outermost dimension (experts)
  std::int64_t permuted_heads = 0;  // > 0: rows of each head go from halves to neighbouring pairs
  bool transposed = false;          // the source holds columns as rows
  float add = 0;                    // to every value: Gemma's norms
};

// The type of a tensor called so in GGUF; a sentence goes to `fallbacks` where the wanted type does not fit its rows.
DType type_for(std::string_view gguf_name, std::span<const std::int64_t> shape, bool is_head,
               const ConvertOptions& options, std::vector<std::string>& fallbacks);

// Whether it is the tensor that gives logits.
bool is_head(std::string_view gguf_name, bool has_output);

// ggml's number of a file mostly of this type (llama_ftype).
std::uint32_t file_type(DType type);

}  // namespace ridge::quant
