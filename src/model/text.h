// The text side of a model's files: its tokenizer and its chat templates, built from whatever form they have.
#pragma once
#include "io/model_files.h"
#include "text/tokenizer.h"

namespace ridge::model {

// Fails (input), saying what was looked for, where the files have no tokenizer.
text::Tokenizer load_tokenizer(const io::ModelFiles& files);

}  // namespace ridge::model
