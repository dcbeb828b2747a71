// The chat templates of a Hugging Face folder, in every form that files have had.
#pragma once
#include <filesystem>

#include "text/chat.h"

namespace ridge::io {

// chat_template.jinja and additional_chat_templates/NAME.jinja; else chat_template.json; else "chat_template" of
// tokenizer_config.json, one template or a list of named ones. `path` may also be one of these files. The texts of
// special tokens come from tokenizer_config.json and special_tokens_map.json. No templates: an empty list.
text::ChatTemplateSource read_chat_templates(const std::filesystem::path& path);

}  // namespace ridge::io
