#include "io/model_files.h"

#include <algorithm>

#include "base/error.h"
#include "io/folder.h"
#include "io/quote.h"

namespace ridge::io {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view accepted =
    "accepted are a GGUF file (any part of a split one), a Hugging Face folder with config.json, a safetensors file or "
    "its .index.json, a tokenizer.json or tokenizer.model, and a chat template";

// Plain files of a folder whose names end so, in order.
std::vector<std::string> names_ending(const fs::path& folder, std::string_view ending) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.ends_with(ending)) names.push_back(name);
  }
  if (error) fail_input("{}: cannot be listed: {}", folder.string(), error.message());
  std::sort(names.begin(), names.end());
  return names;
}

bool is_later_part(std::string_view name) {  // ...-00002-of-00005.gguf: found from its first part
  const std::size_t of = name.rfind("-of-");
  return of != name.npos && of >= 6 && name[of - 6] == '-' && name.substr(of - 5, 5) != "00001";
}

// The weights of a Hugging Face folder: a file or an index.
std::optional<fs::path> weights_in(const fs::path& folder) {
  for (const char* name : {"model.safetensors", "model.safetensors.index.json"})
    if (auto path = file_in(folder, name)) return path;
  for (const char* ending : {".safetensors.index.json", ".safetensors"})
    if (const auto names = names_ending(folder, ending); names.size() == 1) return file_in(folder, names[0]);
  return std::nullopt;
}

std::string why_no_weights(const fs::path& folder) {
  if (!names_ending(folder, ".safetensors").empty())
    return "it holds several .safetensors files, none of them model.safetensors, and no index that says which belong "
           "together";
  for (const char* ending : {".bin", ".pt", ".pth", ".ckpt"})
    if (!names_ending(folder, ending).empty())
      return "its weights are pickled (" + names_ending(folder, ending)[0] +
             "), which could execute code and is not read; "
             "save them as safetensors";
  return "it holds no .safetensors file";
}

std::optional<FileKind> kind_by_name(std::string_view name) {
  if (name.ends_with("tokenizer.json") || name.ends_with(".model")) return FileKind::tokenizer;
  if (name.ends_with(".jinja") || name.ends_with("chat_template.json") || name.ends_with("tokenizer_config.json"))
    return FileKind::templates;
  return std::nullopt;
}

std::optional<FileKind> kind_by_content(const fs::path& folder) {
  for (const char* name : {"tokenizer.json", "tokenizer.model"})
    if (file_in(folder, name)) return FileKind::tokenizer;
  for (const char* name : {"chat_template.jinja", "chat_template.json", "tokenizer_config.json"})
    if (file_in(folder, name)) return FileKind::templates;
  return std::nullopt;
}

}  // namespace

std::string_view name(FileKind kind) {
  static constexpr std::string_view names[] = {"GGUF", "Hugging Face folder", "safetensors", "tokenizer",
                                               "chat templates"};
  return names[std::size_t(kind)];
}

void ModelFiles::take_gguf(GgufFile model) {
  kind = FileKind::gguf;
  gguf_parts_ = std::move(model.parts);
  for (const GgufPart& part : gguf_parts_) {
    for (const GgufTensor& t : part.header.tensors) {
      const GgmlType* type = ggml_type(t.type);
      tensors.push_back({std::string(t.name),
                         type ? type->dtype : std::nullopt,
                         ggml_type_name(t.type),
                         {t.shape.begin(), t.shape.begin() + t.rank},
                         file_names.size(),
                         t.offset,
                         t.bytes});
    }
    file_names.push_back(part.file.name());
  }
  index_names();
}

void ModelFiles::take_safetensors(std::vector<SafetensorsPart> parts) {
  safetensors_parts_ = std::move(parts);
  for (const SafetensorsPart& part : safetensors_parts_) {
    for (const SafetensorsTensor& t : part.header.tensors)
      tensors.push_back({t.name, t.dtype, t.type, t.shape, file_names.size(), t.offset, t.bytes});
    file_names.push_back(part.file.name());
  }
  index_names();
}

void ModelFiles::index_names() {
  for (std::size_t i = 0; i < tensors.size(); ++i) by_name_.emplace(tensors[i].name, i);
}

ModelFiles ModelFiles::open(const fs::path& given) {
  ModelFiles m;
  m.path = given;
  std::error_code error;
  const fs::file_status status = fs::status(given, error);
  if (!fs::exists(status)) fail_input("{}: there is no such file or folder", given.string());
  const bool is_folder = fs::is_directory(status);
  m.folder = is_folder ? given : given.parent_path();

  if (is_folder || given.filename() == "config.json") {
    if (const auto config = file_in(m.folder, "config.json")) {
      m.kind = FileKind::hf_folder;
      m.config = HfConfig::read(*config);
      if (const auto generation = file_in(m.folder, "generation_config.json"))
        m.generation = HfConfig::read(*generation);
      if (const auto weights = weights_in(m.folder)) m.take_safetensors(open_safetensors(*weights));
      else m.without_weights = why_no_weights(m.folder);
      return m;
    }
    std::vector<std::string> models = names_ending(m.folder, ".gguf");
    std::erase_if(models, is_later_part);
    if (models.size() > 1)
      fail_input("{}: holds {} GGUF models ({}, {} ...); name one of them", given.string(), models.size(),
                 quote(models[0]), quote(models[1]));
    if (models.size() == 1) {
      m.take_gguf(open_gguf(*file_in(m.folder, models[0])));
      return m;
    }
    const auto kind = kind_by_content(m.folder);
    if (!kind) fail_input("{}: the folder holds no model, tokenizer or template; {}", given.string(), accepted);
    m.kind = *kind;
    return m;
  }

  const MappedFile file(given);
  if (looks_like_gguf(file.bytes())) {
    m.take_gguf(open_gguf(given));
  } else if (given.string().ends_with(".index.json") || looks_like_safetensors(file.bytes())) {
    m.kind = FileKind::safetensors;
    m.take_safetensors(open_safetensors(given));
  } else if (const auto kind = kind_by_name(given.filename().string())) {
    m.kind = *kind;
  } else {
    fail_input("{}: is not a file that ridge knows; {}", given.string(), accepted);
  }
  return m;
}

const TensorEntry* ModelFiles::find(std::string_view tensor) const {
  const auto found = by_name_.find(tensor);
  return found == by_name_.end() ? nullptr : &tensors[found->second];
}

const MappedFile& ModelFiles::mapping(const TensorEntry& t) const {
  return gguf_parts_.empty() ? safetensors_parts_[t.file].file : gguf_parts_[t.file].file;
}

std::span<const std::byte> ModelFiles::bytes(const TensorEntry& t) const {
  if (!t.bytes)
    fail_input("{}: tensor {} is of {}, whose size is not known", file_names[t.file], quote(t.name), t.type);
  mapping(t).check_length();
  return mapping(t).subspan(t.offset, *t.bytes, "tensor " + quote(t.name));
}

void ModelFiles::release(const TensorEntry& t) const { mapping(t).release(bytes(t)); }

void ModelFiles::release(const TensorEntry& t, std::span<const std::byte> part) const { mapping(t).release(part); }

void ModelFiles::release_all() const {
  for (const GgufPart& part : gguf_parts_) part.file.release(part.file.bytes());
  for (const SafetensorsPart& part : safetensors_parts_) part.file.release(part.file.bytes());
}

std::uint64_t ModelFiles::file_bytes() const {
  std::uint64_t sum = 0;
  for (const GgufPart& part : gguf_parts_) sum += part.file.size();
  for (const SafetensorsPart& part : safetensors_parts_) sum += part.file.size();
  return sum;
}

}  // namespace ridge::io
