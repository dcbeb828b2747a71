// The parts of a tokenizer.json that say what happens around the model: normalizer, pre-tokenizer, decoder,
// post-processor. A type that ridge does not have is refused by name.
#pragma once
#include "io/json_field.h"
#include "text/tokenizer_spec.h"

namespace ridge::io {

void read_normalizer(const JsonField& field, text::TokenizerSpec& spec);
void read_pre_tokenizer(const JsonField& field, text::TokenizerSpec& spec);  // also spec.spelling
void read_decoder(const JsonField& field, text::TokenizerSpec& spec);
void read_post_processor(const JsonField& field, text::TokenizerSpec& spec);

}  // namespace ridge::io
