// The text side of a GGUF file: tokenizer, chat templates, how its makers sample.
#pragma once
#include <string>
#include <vector>

#include "io/gguf_write.h"
#include "model/config.h"
#include "quant/convert.h"
#include "text/tokenizer_spec.h"

namespace ridge::quant {

// From a Hugging Face folder. Fails (input), naming what, on a tokenizer that GGUF has no word for; a sentence goes to
// the notes for what is lost.
void put_text(const io::ModelFiles& files, const model::Config& c, WithTokenizer with, io::GgufPairs& pairs,
              std::vector<std::string>& notes);

// For weights without a text: every byte is a token, and one more ends a text. In GGUF the rest of the vocabulary
// stands for nothing.
text::TokenizerSpec byte_tokenizer();
void put_byte_tokenizer(std::int64_t vocab, io::GgufPairs& pairs);

}  // namespace ridge::quant
