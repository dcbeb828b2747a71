#include "io/sentencepiece_steps.h"

namespace ridge::io {

void add_sentencepiece_steps(const SentencePieceSpaces& spaces, text::TokenizerSpec& spec) {
  using Normalize = text::NormalizerStep;
  using Decode = text::DecoderStep;
  const std::string space(spaces.escape ? sentencepiece_space : " ");
  if (spaces.collapse) spec.normalizer.push_back({.kind = Normalize::Kind::collapse_spaces});
  if (spaces.prefix) spec.normalizer.push_back({.kind = Normalize::Kind::prepend, .content = space});
  if (spaces.escape)
    spec.normalizer.push_back({.kind = Normalize::Kind::replace_text, .pattern = " ", .content = space});
  if (spaces.collapse) spec.normalizer.push_back({.kind = Normalize::Kind::drop_at_end, .pattern = space});
  spec.decoder.push_back({.kind = Decode::Kind::replace_text, .pattern = space, .content = " "});
  spec.decoder.push_back({.kind = Decode::Kind::byte_fallback});
  spec.decoder.push_back({.kind = Decode::Kind::fuse});
  if (spaces.prefix) spec.decoder.push_back({.kind = Decode::Kind::strip, .pattern = " ", .start = 1});
}

}  // namespace ridge::io
