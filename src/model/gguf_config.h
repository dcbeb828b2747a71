// A GGUF file's metadata as a Config, and the other way round.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/gguf_write.h"
#include "io/model_files.h"
#include "model/config.h"

namespace ridge::model {

// Fails (input) on a key that is missing, of the wrong type or out of range, naming file and key.
Config config_from_gguf(const io::ModelFiles& files);

// Whether rope turns neighbouring pairs in GGUF files of this architecture: then q and k have their rows in another
// order there than in Hugging Face files.
bool turns_pairs_in_gguf(std::string_view architecture);

// Which layers have the window in files that do not say, of an architecture that has windows.
std::vector<bool> default_windows_in_gguf(std::string_view architecture, std::int64_t layers);
// How q k^T is scaled in files that do not say.
double default_attention_scale_in_gguf(const Config& c);

// Writes general.architecture, general.name and ARCHITECTURE.*, so that config_from_gguf, and llama.cpp as far as it
// has a word for it, read the same model. Fails (input) on what GGUF has no word for.
void put_gguf_config(const Config& c, io::GgufPairs& pairs);

// The factors of its rope that GGUF keeps as tensors, by name.
std::vector<std::pair<std::string, std::vector<float>>> gguf_rope_factors(const Config& c);

// What llama.cpp (2026) does not read in such a file, as sentences; empty: it computes the same.
std::vector<std::string> unread_by_llama_cpp(const Config& c, bool has_output_bias);

}  // namespace ridge::model
