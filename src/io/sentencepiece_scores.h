// SentencePiece models in Hugging Face's form and in their own: merges by rank there, a score for each piece here.
#pragma once
#include <vector>

#include "text/tokenizer_spec.h"

namespace ridge::io {

// Scores that merge as the ranks of spec.merges do: the earlier a piece is made, the better. Fails (input), naming
// spec.source, where there are none: SentencePiece merges any two neighbours whose text is a piece, so every way to
// make a piece of two must be among the merges, one after another.
std::vector<float> scores_of_merges(const text::TokenizerSpec& spec);

}  // namespace ridge::io
