// The files of a Hugging Face folder that are not weights, for a folder with the same model in another type.
#pragma once
#include <filesystem>
#include <optional>
#include <string_view>

#include "tensor/dtype.h"
#include "text/tokenizer_spec.h"

namespace ridge::io {

// Copies config.json, generation_config.json, the tokenizer's files, chat templates, license and README from `from` to
// `to`; nothing that could be executed. With a `type`, config.json says it, and no longer how the weights were
// quantized.
void write_hf_companions(const std::filesystem::path& from, const std::filesystem::path& to, std::optional<DType> type);

// config.json alone, likewise.
void write_hf_config(const std::filesystem::path& from, const std::filesystem::path& to, std::optional<DType> type);

// A small file, whole.
void write_text_file(const std::filesystem::path& path, std::string_view text);

// tokenizer.json of a byte-level tokenizer with GPT-2's pre-tokenizer, and tokenizer_config.json, which names its end.
void write_hf_tokenizer(const std::filesystem::path& folder, const text::TokenizerSpec& spec);

}  // namespace ridge::io
