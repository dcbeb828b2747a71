#include "io/sentencepiece_steps.h"

#include <algorithm>

#include "base/error.h"

namespace ridge::io {

namespace {

using text::DecoderStep;
using text::NormalizerStep;
using text::PreTokenizerStep;

bool same(const NormalizerStep& a, const NormalizerStep& b) {
  return a.kind == b.kind && a.pattern == b.pattern && a.content == b.content && a.left == b.left && a.right == b.right;
}
bool same_decoder(const DecoderStep& a, const DecoderStep& b) {
  return a.kind == b.kind && a.pattern == b.pattern && a.content == b.content && a.start == b.start && a.stop == b.stop;
}

// Cutting at spaces does nothing where none are left.
bool cuts_at_spaces(const PreTokenizerStep& s) {
  return s.kind == PreTokenizerStep::Kind::split_text && s.pattern == " ";
}

// Spaces written by a pre-tokenizer (newer files) instead of normalizers.
bool is_metaspace(const text::TokenizerSpec& spec) {
  return spec.normalizer.empty() && spec.pre_tokenizer.size() == 1 &&
         spec.pre_tokenizer[0].kind == PreTokenizerStep::Kind::metaspace &&
         spec.pre_tokenizer[0].pattern == sentencepiece_space;
}

bool encodes_so(const text::TokenizerSpec& spec, const text::TokenizerSpec& form) {
  return std::all_of(spec.pre_tokenizer.begin(), spec.pre_tokenizer.end(), cuts_at_spaces) &&
         std::equal(spec.normalizer.begin(), spec.normalizer.end(), form.normalizer.begin(), form.normalizer.end(),
                    same);
}

bool decodes_so(const text::TokenizerSpec& spec, const text::TokenizerSpec& form, bool prefix) {
  if (spec.decoder.size() == 1 && spec.decoder[0].kind == DecoderStep::Kind::metaspace)
    return spec.decoder[0].pattern == sentencepiece_space && spec.decoder[0].drop_first == prefix;
  return std::equal(spec.decoder.begin(), spec.decoder.end(), form.decoder.begin(), form.decoder.end(), same_decoder);
}

}  // namespace

SentencePieceSpaces spaces_of(const text::TokenizerSpec& spec) {
  for (bool prefix : {false, true})
    for (bool collapse : {false, true}) {
      text::TokenizerSpec form;
      add_sentencepiece_steps({prefix, collapse}, form);
      const bool metaspace = !collapse && is_metaspace(spec) &&
                             prefix == (spec.pre_tokenizer[0].prepend != PreTokenizerStep::Prepend::never);
      if ((metaspace || encodes_so(spec, form)) && decodes_so(spec, form, prefix)) return {prefix, collapse};
    }
  fail_input(
      "{}: its normalizers, pre-tokenizer and decoder do something else than SentencePiece with a table of no "
      "replacements, which is all that GGUF has words for; --no-tokenizer leaves the tokenizer out",
      spec.source);
}

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
