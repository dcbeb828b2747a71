// A tokenizer as GGUF metadata (keys tokenizer.ggml.*): the way back of tokenizer_gguf.h.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "io/gguf_write.h"
#include "text/tokenizer_spec.h"

namespace ridge::io {

// Writes exactly `rows` tokens, as many as the embedding has: ids without a piece become unused ones. Fails (input),
// naming spec.source and what, on a tokenizer that the keys cannot say: a pre-tokenizer without a name, a normalizer, a
// post-processor that does more than put a beginning and an end, merges that no scores give. A sentence goes to
// `notes` for what is lost: flags of added tokens, added tokens beyond the embedding.
void put_gguf_tokenizer(const text::TokenizerSpec& spec, std::size_t rows, GgufPairs& pairs,
                        std::vector<std::string>& notes);

}  // namespace ridge::io
