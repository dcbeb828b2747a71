// The files of a Hugging Face folder that are not weights, for a folder with the same model in another type.
#pragma once
#include <filesystem>
#include <optional>

#include "tensor/dtype.h"

namespace ridge::io {

// Copies config.json, generation_config.json, the tokenizer's files, chat templates, license and README from `from` to
// `to`; nothing that could be executed. With a `type`, config.json says it, and no longer how the weights were
// quantized.
void write_hf_companions(const std::filesystem::path& from, const std::filesystem::path& to, std::optional<DType> type);

}  // namespace ridge::io
