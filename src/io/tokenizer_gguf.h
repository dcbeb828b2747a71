// The tokenizer in a GGUF file's metadata (keys tokenizer.ggml.*, ggml/docs/gguf.md).
#pragma once
#include "io/gguf_metadata.h"
#include "text/tokenizer_spec.h"

namespace ridge::io {

// Whether there is one: `tokenizer.ggml.model` may be missing, or "none".
bool has_tokenizer(const GgufMetadata& metadata);

// Reads it. Pieces and merges point into the mapped file, which must stay mapped until the Tokenizer is built. Models
// "gpt2" (byte-level, by merges) and "llama" (SentencePiece, by scores) are read; others are refused by name.
text::TokenizerSpec read_gguf_tokenizer(const GgufMetadata& metadata);

}  // namespace ridge::io
