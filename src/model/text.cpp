#include "model/text.h"

#include "base/error.h"
#include "io/chat_template_files.h"
#include "io/tokenizer_gguf.h"
#include "io/tokenizer_json.h"

namespace ridge::model {
namespace {

void add_special(text::ChatTemplateSource& source, const text::Tokenizer& tokenizer, std::string_view name,
                 std::optional<text::TokenId> id) {
  if (id) source.special_tokens.emplace_back(name, tokenizer.token_spelling(*id));
}

// Keys "tokenizer.chat_template", and "tokenizer.chat_template.NAME" for named ones.
void add_gguf_templates(text::ChatTemplateSource& source, const io::GgufMetadata& m) {
  constexpr std::string_view key = "tokenizer.chat_template";
  for (const io::GgufValue& v : m.all()) {
    if (v.type != io::GgufType::string || v.key.substr(0, key.size()) != key) continue;
    if (v.key.size() == key.size()) source.templates.push_back({"default", std::string(m.get_string(v.key))});
    else if (v.key[key.size()] == '.')
      source.templates.push_back({std::string(v.key.substr(key.size() + 1)), std::string(m.get_string(v.key))});
  }
}

}  // namespace

text::Tokenizer load_tokenizer(const io::ModelFiles& files) {
  if (const io::GgufMetadata* m = files.gguf()) {
    if (!io::has_tokenizer(*m)) fail_input("{}: holds no tokenizer (tokenizer.ggml.model)", m->file());
    return text::Tokenizer(io::read_gguf_tokenizer(*m));
  }
  return text::Tokenizer(io::load_tokenizer(files.path));
}

text::ChatTemplateSource chat_template_source(const io::ModelFiles& files, const text::Tokenizer* tokenizer) {
  if (!files.gguf()) return io::read_chat_templates(files.path);
  text::ChatTemplateSource source;
  add_gguf_templates(source, *files.gguf());
  if (tokenizer) {
    add_special(source, *tokenizer, "bos_token", tokenizer->bos());
    add_special(source, *tokenizer, "eos_token", tokenizer->eos());
    add_special(source, *tokenizer, "unk_token", tokenizer->unknown());
    add_special(source, *tokenizer, "pad_token", tokenizer->padding());
  }
  return source;
}

}  // namespace ridge::model
