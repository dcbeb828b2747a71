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

void copy_text(const fs::path& from, const fs::path& to) {
  OutputFile out(to);
  out.write(read_text_file(from, largest));
  out.finish();
}

std::string_view name_in_torch(DType type) {
  return type == DType::f32 ? "float32" : type == DType::f16 ? "float16" : "bfloat16";
}

void write_config(const fs::path& from, const fs::path& to, std::optional<DType> type) {
  if (!type) return copy_text(from, to);
  nlohmann::ordered_json config = read_json(from);
  const char* key = config.contains("torch_dtype") && !config.contains("dtype") ? "torch_dtype" : "dtype";
  config[key] = name_in_torch(*type);
  config.erase("quantization_config");
  OutputFile out(to);
  out.write(config.dump(2) + "\n");
  out.finish();
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

void write_hf_companions(const fs::path& from, const fs::path& to, std::optional<DType> type) {
  write_config(required_file_in(from, "config.json", from.string()), to / "config.json", type);
  for (const char* name : companions)
    if (const auto file = file_in(from, name)) copy_text(*file, to / name);
  copy_named_templates(from / "additional_chat_templates", to / "additional_chat_templates");
}

}  // namespace ridge::io
