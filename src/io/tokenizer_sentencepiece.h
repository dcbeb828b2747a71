// SentencePiece's own model files (tokenizer.model): a protocol buffer, sentencepiece_model.proto. Read by hand: the
// four messages that matter are a page of code, and the library would build a second tokenizer of its own.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>

#include "text/tokenizer_spec.h"

namespace ridge::io {

// Reads a byte-pair model; Unigram, word and character models are refused by name, as are normalization rules other
// than identity. User-defined pieces are found in a text as that library finds them; control pieces are control tokens.
// prefix is the beginning-of-sequence token where the file has one, as the families that use such files want it.
text::TokenizerSpec read_sentencepiece(std::span<const std::byte> bytes, std::string_view file);

// Whether the bytes may be such a file: they start with a piece.
bool looks_like_sentencepiece(std::span<const std::byte> bytes);

}  // namespace ridge::io
