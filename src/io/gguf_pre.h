// What `tokenizer.ggml.pre` names: the normalizer and pre-tokenizer of a model family, which a GGUF file does not spell
// out. The steps are those of the family's own tokenizer.json.
#pragma once
#include <optional>
#include <string_view>

#include "text/tokenizer_spec.h"

namespace ridge::io {

// Sets normalizer, pre_tokenizer and ignore_merges of a byte-level `spec`; returns whether the family puts a
// beginning-of-sequence token first where the file does not say. Fails (input) on an unknown name, with those accepted.
bool apply_gguf_pre(std::string_view name, text::TokenizerSpec& spec);

// The name whose steps are those of a byte-level `spec`, the first where several are the same; empty: none is.
std::optional<std::string_view> gguf_pre_of(const text::TokenizerSpec& spec);

}  // namespace ridge::io
