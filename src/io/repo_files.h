// Which files of a repository make a model, judged by their names alone: the same for a list that a server sent and for
// what lies in the cache.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ridge::io {

struct RepoFile {
  std::string name;                    // its path in the repository
  std::optional<std::uint64_t> bytes;  // empty: not known
};

enum class RepoFormat : std::uint8_t { none, safetensors, gguf, file };

struct RepoChoice {
  RepoFormat format = RepoFormat::none;  // `file`: another single file, which was named
  std::vector<std::string> files;  // GGUF: all parts in order. Safetensors: all but the shards, which an index names
  std::string index;               // the safetensors index; empty: none is needed
  std::string why_none;            // in words, after "NAME: "
};

// What ridge would run. `wanted` is a file, or the type of a GGUF model ("Q4_K_M"); empty: safetensors where they are,
// else the only GGUF model. Fails (input), listing what there is, when several fit or nothing is called so.
RepoChoice choose_files(std::string_view repo, std::span<const RepoFile> files, std::string_view wanted);

struct GgufGroup {                 // a model of one file or of many parts
  std::string name;                // of the file, or of the first part
  std::string stem;                // without folder, part number and ending: "model-Q4_K_M"
  std::vector<std::string> files;  // in order of parts
  std::uint64_t parts = 1;         // how many it says it has
  std::optional<std::uint64_t> bytes;
};
std::vector<GgufGroup> gguf_groups(std::span<const RepoFile> files);

// Whether a file's stem holds the label as a whole word: "model-Q4_K_M" has "q4_k_m", not "Q4_K".
bool has_label(std::string_view stem, std::string_view label);

bool may_execute(std::string_view file);  // pickles, Python, scripts, libraries: never fetched
bool is_fetched(std::string_view file);   // a kind of file that ridge reads, or that people do: nothing that executes

}  // namespace ridge::io
