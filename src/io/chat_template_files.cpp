#include "io/chat_template_files.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "io/json_bounded.h"
#include "io/mapped_file.h"

namespace ridge::io {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t most_template_bytes = std::size_t(1) << 20;
constexpr std::size_t most_additional = 64;

std::string read_source(const fs::path& path) {
  const MappedFile file(path);
  if (file.size() > most_template_bytes)
    fail_input("{}: a template of {} bytes; accepted are up to {}", path.string(), file.size(), most_template_bytes);
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

Json read_object(const fs::path& path) {
  Json json = read_json(path, {.bytes = std::size_t(64) << 20, .duplicates = DuplicateKeys::keep_last});
  if (!json.is_object()) fail_input("{}: must hold an object", path.string());
  return json;
}

// A string, or a list of {"name", "template"}.
void add_templates(text::ChatTemplateSource& source, const Json& value, const std::string& where) {
  if (value.is_null()) return;
  if (value.is_string()) {
    source.templates.push_back({"default", value.get<std::string>()});
    return;
  }
  if (value.is_object()) {  // {"default": "...", "tool_use": "..."}
    for (const auto& [name, body] : value.items()) {
      if (!body.is_string()) fail_input("{}: chat template '{}' must be a string", where, name);
      source.templates.push_back({name, body.get<std::string>()});
    }
    return;
  }
  if (!value.is_array()) fail_input("{}: 'chat_template' must be a string or a list of named templates", where);
  for (const Json& item : value) {
    if (!item.is_object() || !item.contains("name") || !item["name"].is_string() || !item.contains("template") ||
        !item["template"].is_string())
      fail_input("{}: each of 'chat_template' must have a 'name' and a 'template'", where);
    source.templates.push_back({item["name"].get<std::string>(), item["template"].get<std::string>()});
  }
}

// "bos_token": "<s>", or {"content": "<s>", ...}. Names end in _token; the first file that has one wins.
void add_special_tokens(text::ChatTemplateSource& source, const Json& json) {
  for (const auto& [name, value] : json.items()) {
    if (!name.ends_with("_token") || name.starts_with("add_")) continue;
    const bool known = std::any_of(source.special_tokens.begin(), source.special_tokens.end(),
                                   [&name = name](const auto& s) { return s.first == name; });
    if (known) continue;
    if (value.is_string()) source.special_tokens.emplace_back(name, value.get<std::string>());
    else if (value.is_object() && value.contains("content") && value["content"].is_string())
      source.special_tokens.emplace_back(name, value["content"].get<std::string>());
  }
}

void add_jinja_files(text::ChatTemplateSource& source, const fs::path& folder) {
  if (fs::is_regular_file(folder / "chat_template.jinja"))
    source.templates.push_back({"default", read_source(folder / "chat_template.jinja")});
  const fs::path more = folder / "additional_chat_templates";
  if (!fs::is_directory(more)) return;
  std::vector<fs::path> files;
  for (const fs::directory_entry& e : fs::directory_iterator(more)) {
    if (e.path().extension() == ".jinja") files.push_back(e.path());
    if (files.size() > most_additional) fail_input("{}: more than {} templates", more.string(), most_additional);
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& f : files) source.templates.push_back({f.stem().string(), read_source(f)});
}

}  // namespace

text::ChatTemplateSource read_chat_templates(const fs::path& path) {
  text::ChatTemplateSource source;
  const fs::path folder = fs::is_directory(path) ? path : path.parent_path();
  if (path.extension() == ".jinja") source.templates.push_back({"default", read_source(path)});
  else add_jinja_files(source, folder);

  const fs::path json = folder / "chat_template.json", config = folder / "tokenizer_config.json",
                 map = folder / "special_tokens_map.json";
  if (source.templates.empty() && fs::is_regular_file(json)) {
    const Json object = read_object(json);
    if (object.contains("chat_template")) add_templates(source, object["chat_template"], json.string());
  }
  if (fs::is_regular_file(config)) {
    const Json object = read_object(config);
    if (source.templates.empty() && object.contains("chat_template"))
      add_templates(source, object["chat_template"], config.string());
    add_special_tokens(source, object);
  }
  if (fs::is_regular_file(map)) add_special_tokens(source, read_object(map));
  return source;
}

}  // namespace ridge::io
