#include "io/hf_folder_write.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "io/folder.h"
#include "io/json_bounded.h"
#include "io/output_file.h"

namespace ridge::io {
namespace fs = std::filesystem;
namespace {

constexpr const char* companions[] = {
    "generation_config.json",
    "tokenizer.json",
    "tokenizer.model",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "merges.txt",
    "chat_template.jinja",
    "chat_template.json",
    "LICENSE",
    "LICENSE.txt",
    "LICENSE.md",
    "README.md",
};
constexpr std::uint64_t largest = std::uint64_t(512) << 20;
constexpr std::size_t most_templates = 64;

void copy_text(const fs::path& from, const fs::path& to) { write_text_file(to, read_text_file(from, largest)); }

std::string_view name_in_torch(DType type) {
  return type == DType::f32 ? "float32" : type == DType::f16 ? "float16" : "bfloat16";
}

void copy_named_templates(const fs::path& from, const fs::path& to) {
  std::error_code error;
  if (!fs::is_directory(from, error)) return;
  fs::create_directory(to, error);
  std::size_t count = 0;
  for (const fs::directory_entry& e : fs::directory_iterator(from)) {
    if (e.path().extension() != ".jinja") continue;
    if (++count > most_templates) fail_input("{}: more than {} templates", from.string(), most_templates);
    if (const auto file = file_in(from, e.path().filename().string())) copy_text(*file, to / e.path().filename());
  }
}

}  // namespace

void write_text_file(const fs::path& path, std::string_view text) {
  OutputFile out(path);
  out.write(text);
  out.finish();
}

void write_hf_config(const fs::path& from, const fs::path& to, std::optional<DType> type) {
  if (!type) return copy_text(from, to);
  nlohmann::ordered_json config = read_json(from);
  const char* key = config.contains("torch_dtype") && !config.contains("dtype") ? "torch_dtype" : "dtype";
  config[key] = name_in_torch(*type);
  config.erase("quantization_config");
  write_text_file(to, config.dump(2) + "\n");
}

void write_hf_tokenizer(const fs::path& folder, const text::TokenizerSpec& spec) {
  using Json = nlohmann::ordered_json;
  Json vocab = Json::object(), added = Json::array();
  for (std::size_t id = 0; id < spec.pieces.size(); ++id) vocab[std::string(spec.pieces[id])] = id;
  for (const text::AddedToken& t : spec.added)
    added.push_back({{"id", t.id},
                     {"content", t.content},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", t.normalized},
                     {"special", t.special}});
  const Json byte_level = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
  const Json model = {{"type", "BPE"}, {"vocab", std::move(vocab)}, {"merges", Json::array()}};
  const Json tokenizer = {{"version", "1.0"},
                          {"added_tokens", std::move(added)},
                          {"pre_tokenizer", byte_level},
                          {"decoder", byte_level},
                          {"model", model}};
  write_text_file(folder / "tokenizer.json", tokenizer.dump(1) + "\n");
  Json config = {{"tokenizer_class", "PreTrainedTokenizerFast"}};
  if (spec.eos) config["eos_token"] = spec.pieces[*spec.eos];
  write_text_file(folder / "tokenizer_config.json", config.dump(1) + "\n");
}

void write_hf_companions(const fs::path& from, const fs::path& to, std::optional<DType> type) {
  write_hf_config(required_file_in(from, "config.json", from.string()), to / "config.json", type);
  for (const char* name : companions)
    if (const auto file = file_in(from, name)) copy_text(*file, to / name);
  copy_named_templates(from / "additional_chat_templates", to / "additional_chat_templates");
}

}  // namespace ridge::io
