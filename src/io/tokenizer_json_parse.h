// The text of a tokenizer.json, parsed without a tree of its 400,000 strings: vocabulary and merges go straight into
// the spec, only the rest becomes JSON.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "text/tokenizer_spec.h"

namespace ridge::io {

struct FoundParts {
  bool vocab = false, merges = false;
};

// Fills spec.pieces and spec.merges from model.vocab (an object of ids) and model.merges (an array), and `rest` with
// everything else; what a model of another kind has at model.vocab (a list of pieces with scores) is skipped. Fails
// (input), naming spec.source and byte or key, on what is not JSON, is nested deeper than 64, has ids that are
// negative, too large or there twice, or merges that are not pairs.
FoundParts parse_tokenizer_json(std::string_view json, text::TokenizerSpec& spec, nlohmann::json& rest);

}  // namespace ridge::io
