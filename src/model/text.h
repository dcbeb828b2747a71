// The text side of a model's files: its tokenizer and its chat templates, built from whatever form they have.
#pragma once
#include <memory>

#include "io/model_files.h"
#include "text/chat.h"
#include "text/tokenizer.h"

namespace ridge::model {

// Fails (input), saying what was looked for, where the files have no tokenizer.
text::Tokenizer load_tokenizer(const io::ModelFiles& files);

// The templates, with the texts of the special tokens that they may name. Empty where the files have none.
text::ChatTemplateSource chat_template_source(const io::ModelFiles& files, const text::Tokenizer* tokenizer);

}  // namespace ridge::model
