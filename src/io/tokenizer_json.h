// Hugging Face's tokenizer.json, and the tokenizer_config.json beside it.
#pragma once
#include <filesystem>
#include <string_view>

#include "text/tokenizer_spec.h"

namespace ridge::io {

// Reads tokenizer.json. Byte-pair models are read; Unigram, WordPiece and WordLevel are refused by name, as is every
// type of step that ridge does not have. Truncation and padding in the file are not applied: they are a caller's
// choice. `config` is the text of tokenizer_config.json, or empty: it names tokens with a role and may add tokens.
text::TokenizerSpec read_tokenizer_json(std::string_view json, std::string_view file, std::string_view config = {},
                                        std::string_view config_file = {});

// A tokenizer of Hugging Face's layout: a folder with tokenizer.json or tokenizer.model, or one of these files, with
// the tokenizer_config.json beside it.
text::TokenizerSpec load_tokenizer(const std::filesystem::path& path);

}  // namespace ridge::io
