// What a path to a model is, and one list of its tensors whatever the format, so that model/ loads all in the same way.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/gguf.h"
#include "io/hf_config.h"
#include "io/safetensors.h"

namespace ridge::io {

enum class FileKind {
  gguf,         // one file, or all parts of a split one
  hf_folder,    // config.json, and mostly weights as safetensors
  safetensors,  // weights alone: one file, or an index with its shards
  tokenizer,    // a folder or file that holds only a tokenizer
  templates,    // ... or only chat templates
};
std::string_view name(FileKind kind);

struct TensorEntry {
  std::string name;
  std::optional<DType> dtype;          // empty: ridge cannot read its values
  std::string type;                    // the type as the format calls it: "IQ2_XXS", "F8_E5M2"
  std::vector<std::int64_t> shape;     // outermost first, as safetensors has it; GGUF's are turned round
  std::size_t file;                    // index of ModelFiles::file_names
  std::uint64_t offset;                // in that file
  std::optional<std::uint64_t> bytes;  // empty: the size of its type is not known
};

class ModelFiles {
 public:
  // Finds out what `path` is and opens it. Folders: config.json with model.safetensors, model.safetensors.index.json or
  // the only *.safetensors there; else the only GGUF model there; else a tokenizer or a template. Files: by their first
  // bytes, then by their names; config.json stands for its folder. Fails (input), saying what is accepted.
  static ModelFiles open(const std::filesystem::path& path);

  FileKind kind;
  std::filesystem::path path;        // as given
  std::filesystem::path folder;      // where its other files (tokenizer, template) are looked for
  std::vector<TensorEntry> tensors;  // in the files' order
  std::vector<std::string> file_names;
  std::optional<HfConfig> config, generation;  // of a Hugging Face folder
  std::string without_weights;                 // of a Hugging Face folder without tensors: why, in words

  const GgufMetadata* gguf() const { return gguf_parts_.empty() ? nullptr : &gguf_parts_.front().header.metadata; }
  const TensorEntry* find(std::string_view tensor) const;  // null: not there

  // The tensor as stored, in the mapped file; it may lie at any address, so read it by copying. Fails (input) when its
  // size is not known, or when the file has shrunk.
  std::span<const std::byte> bytes(const TensorEntry& tensor) const;
  void release(const TensorEntry& tensor) const;  // its pages need not stay in memory (MappedFile::release)
  void release(const TensorEntry& tensor, std::span<const std::byte> part) const;  // those of a part of its bytes
  void release_all() const;          // headers, vocabulary and all: for the end of loading
  std::uint64_t file_bytes() const;  // of all weight files together

 private:
  void take_gguf(GgufFile model);
  void take_safetensors(std::vector<SafetensorsPart> parts);
  void index_names();
  const MappedFile& mapping(const TensorEntry& tensor) const;

  std::vector<GgufPart> gguf_parts_;
  std::vector<SafetensorsPart> safetensors_parts_;
  std::map<std::string_view, std::size_t> by_name_;
};

}  // namespace ridge::io
