// How SentencePiece treats spaces, as normalizer and decoder steps. GGUF's "llama" model and SentencePiece's own files
// mean the same and say it in different words.
#pragma once
#include "text/tokenizer_spec.h"

namespace ridge::io {

inline constexpr std::string_view sentencepiece_space = "\xE2\x96\x81";  // U+2581 stands for a space

enum class SpacePrefix {
  none,
  start,       // before the text
  every_part,  // also after added tokens, as the Hugging Face and llama.cpp versions of these tokenizers do
};

struct SentencePieceSpaces {
  SpacePrefix prefix = SpacePrefix::every_part;
  bool collapse = false;  // remove_extra_whitespaces: none at the ends, one in a row
  bool escape = true;     // a space becomes U+2581
};

void add_sentencepiece_steps(const SentencePieceSpaces& spaces, text::TokenizerSpec& spec);

}  // namespace ridge::io
