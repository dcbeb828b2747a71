// How SentencePiece treats spaces, as normalizer and decoder steps. GGUF's "llama" model and SentencePiece's own files
// mean the same and say it in different words.
#pragma once
#include "text/tokenizer_spec.h"

namespace ridge::io {

inline constexpr std::string_view sentencepiece_space = "\xE2\x96\x81";  // U+2581 stands for a space

struct SentencePieceSpaces {
  bool prefix = true;     // a space before the text (add_dummy_prefix)
  bool collapse = false;  // none at the ends, one in a row (remove_extra_whitespaces)
  bool escape = true;     // a space becomes U+2581
};

void add_sentencepiece_steps(const SentencePieceSpaces& spaces, text::TokenizerSpec& spec);

// The way back, from any of the forms in which such tokenizers are written. Fails (input), naming spec.source, where
// the steps do something else.
SentencePieceSpaces spaces_of(const text::TokenizerSpec& spec);

}  // namespace ridge::io
