#include "quant/text_pairs.h"

#include <algorithm>

#include "base/error.h"
#include "io/folder.h"
#include "io/gguf_pre.h"
#include "io/tokenizer_gguf_write.h"
#include "io/tokenizer_json.h"
#include "model/generation_defaults.h"
#include "model/text.h"
#include "text/byte_alphabet.h"

namespace ridge::quant {
namespace {

void put_templates(const text::ChatTemplateSource& source, io::GgufPairs& pairs) {
  std::vector<std::string> names;
  for (const auto& t : source.templates) {
    if (t.name == "default") {
      pairs.put_string("tokenizer.chat_template", t.source);
    } else {
      pairs.put_string("tokenizer.chat_template." + t.name, t.source);
      names.push_back(t.name);
    }
  }
  if (!names.empty()) pairs.put_strings("tokenizer.chat_templates", names);
}

void put_sampling(const model::GenerationDefaults& d, io::GgufPairs& pairs) {
  const auto number = [&](const char* key, const std::optional<float>& v) {
    if (v) pairs.put_f32(key, *v);
  };
  number("general.sampling.temp", d.temperature);
  number("general.sampling.top_p", d.top_p);
  number("general.sampling.min_p", d.min_p);
  number("general.sampling.penalty_repeat", d.repetition_penalty);
  if (d.top_k) pairs.put_i32("general.sampling.top_k", *d.top_k);
}

// generation_config.json's list of end tokens joins the tokenizer's own.
void add_ends(const model::GenerationDefaults& d, text::TokenizerSpec& spec) {
  for (std::int32_t id : d.end_ids)
    if (std::find(spec.end_ids.begin(), spec.end_ids.end(), text::TokenId(id)) == spec.end_ids.end())
      spec.end_ids.push_back(text::TokenId(id));
  if (!spec.eos && !spec.end_ids.empty()) spec.eos = spec.end_ids.front();
}

}  // namespace

void put_text(const io::ModelFiles& files, const model::Config& c, WithTokenizer with, io::GgufPairs& pairs,
              std::vector<std::string>& notes) {
  const model::GenerationDefaults defaults = model::generation_defaults(files);
  put_sampling(defaults, pairs);
  const bool there = io::file_in(files.folder, "tokenizer.json") || io::file_in(files.folder, "tokenizer.model");
  if (!there || with == WithTokenizer::no) {
    if (!there) notes.emplace_back("the folder has no tokenizer, so the file has none");
    pairs.put_string("tokenizer.ggml.model", "none");
    return;
  }
  text::TokenizerSpec spec = io::load_tokenizer(files.folder);
  add_ends(defaults, spec);
  io::put_gguf_tokenizer(spec, std::size_t(c.vocab), pairs, notes);
  put_templates(model::chat_template_source(files, nullptr), pairs);
}

text::TokenizerSpec byte_tokenizer() {
  constexpr text::TokenId bytes = 256;
  text::TokenizerSpec spec;
  spec.source = "random weights";
  spec.spelling = text::Spelling::bytes;
  for (text::TokenId b = 0; b < bytes; ++b) {
    const char byte = char(b);
    std::string spelled;
    text::append_spelling_of({&byte, 1}, spelled);
    spec.pieces.push_back(spec.storage.add(spelled));
  }
  spec.pieces.push_back(spec.storage.add("<|end|>"));
  spec.added.push_back({.content = "<|end|>", .id = bytes, .special = true});
  spec.eos = bytes;
  spec.decoder.push_back({.kind = text::DecoderStep::Kind::byte_level});
  io::apply_gguf_pre("gpt-2", spec);
  return spec;
}

void put_byte_tokenizer(std::int64_t vocab, io::GgufPairs& pairs) {
  const text::TokenizerSpec spec = byte_tokenizer();
  if (vocab < std::int64_t(spec.pieces.size()) || vocab > std::int64_t(text::max_pieces))
    return pairs.put_string("tokenizer.ggml.model", "none");
  std::vector<std::string> notes;  // there is nothing to lose
  io::put_gguf_tokenizer(spec, std::size_t(vocab), pairs, notes);
}

}  // namespace ridge::quant
