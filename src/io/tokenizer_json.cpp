#include "io/tokenizer_json.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/error.h"
#include "io/folder.h"
#include "io/json_field.h"
#include "io/mapped_file.h"
#include "io/quote.h"
#include "io/tokenizer_json_parse.h"
#include "io/tokenizer_json_steps.h"
#include "io/tokenizer_sentencepiece.h"

namespace ridge::io {

namespace {

using text::AddedToken;
using text::TokenId;
using text::TokenizerSpec;

constexpr std::uint64_t max_file_bytes = std::uint64_t(512) << 20;

void read_model(const JsonField& model, FoundParts found, TokenizerSpec& spec) {
  const std::string type = model["type"].text("BPE");  // old files do not say
  if (type != "BPE")
    model["type"].fail(fmt::format("the tokenizer model {} is not supported; accepted is BPE", quote(type)));
  if (!found.vocab) model["vocab"].fail("is missing, or is not an object of pieces and ids");
  if (!found.merges) model["merges"].fail("is missing, or is not an array");
  if (model["dropout"].number(0) != 0)
    model["dropout"].fail("is not 0: merges that are left out at random are not supported");
  spec.merging = text::Merging::ranks;
  spec.ignore_merges = model["ignore_merges"].truth(false);
  spec.byte_fallback = model["byte_fallback"].truth(false);
  spec.fuse_unknown = model["fuse_unk"].truth(false);
  spec.unknown_piece = model["unk_token"].text("");
  spec.continuing_prefix = model["continuing_subword_prefix"].text("");
  spec.word_suffix = model["end_of_word_suffix"].text("");
}

// Ids of added tokens are given by the reference, not by the file: a token that the model has keeps the model's id,
// others are counted on from the model's size.
class AddedIds {
 public:
  explicit AddedIds(const TokenizerSpec& spec) {
    for (TokenId id = 0; id < spec.pieces.size(); ++id) {
      if (!spec.pieces[id].data()) continue;
      pieces_.emplace(spec.pieces[id], id);
      ++next_;
    }
    for (const AddedToken& t : spec.added) places_.emplace(take(t.content), places_.size());
  }
  TokenId take(const std::string& content) {
    if (const auto known = pieces_.find(content); known != pieces_.end()) return known->second;
    const auto [at, is_new] = added_.emplace(content, next_);
    if (is_new) ++next_;
    return at->second;
  }

  // A token that was there before is replaced: the last one counts.
  void put(AddedToken token, TokenizerSpec& spec) {
    const auto [at, is_new] = places_.emplace(token.id, spec.added.size());
    if (is_new) spec.added.push_back(std::move(token));
    else spec.added[at->second] = std::move(token);
  }

 private:
  std::unordered_map<std::string_view, TokenId> pieces_;
  std::unordered_map<std::string, TokenId> added_;
  std::unordered_map<TokenId, std::size_t> places_;  // in spec.added
  TokenId next_ = 0;
};

AddedToken read_added_token(const JsonField& field, std::string content) {
  AddedToken t;
  t.content = std::move(content);
  t.single_word = field["single_word"].truth(false);
  t.lstrip = field["lstrip"].truth(false);
  t.rstrip = field["rstrip"].truth(false);
  t.special = field["special"].truth(false);
  t.normalized = field["normalized"].truth(!t.special);
  return t;
}

void add_token(const JsonField& field, AddedToken token, std::uint64_t said, AddedIds& ids, TokenizerSpec& spec) {
  if (token.content.empty()) return;
  token.id = ids.take(token.content);
  if (token.id != said)
    field.fail(fmt::format("token {} says that its id is {}, but the vocabulary gives it {}", quote(token.content),
                           said, token.id));
  ids.put(std::move(token), spec);
}

void read_added_tokens(const JsonField& field, TokenizerSpec& spec) {
  if (!field.is_there()) return;
  AddedIds ids(spec);
  for (const JsonField& t : field.elements())
    add_token(t, read_added_token(t, t["content"].text()), t["id"].count(text::max_pieces - 1), ids, spec);
}

// Tokens that only tokenizer_config.json lists, in the order of their ids.
void add_tokens_of_config(const JsonField& field, TokenizerSpec& spec) {
  if (!field.is_there()) return;
  std::vector<std::pair<std::uint64_t, JsonField>> listed;
  for (const auto& [key, value] : field.members()) {
    if (key.empty() || key.size() > 7 || key.find_first_not_of("0123456789") != std::string::npos)
      value.fail("the key is not an id");
    listed.emplace_back(std::stoull(key), value);
  }
  std::sort(listed.begin(), listed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  AddedIds ids(spec);
  std::vector<std::string> known;
  for (const AddedToken& t : spec.added) known.push_back(t.content);
  std::sort(known.begin(), known.end());
  for (const auto& [id, value] : listed) {
    std::string content = value["content"].text();
    if (std::binary_search(known.begin(), known.end(), content)) continue;
    add_token(value, read_added_token(value, std::move(content)), id, ids, spec);
  }
}

// "bos_token" and its like are a string or an object with a content.
std::optional<TokenId> role(const JsonField& field, const TokenizerSpec& spec) {
  if (!field.is_there()) return std::nullopt;
  const std::string content = field.is_object() ? field["content"].text() : field.text();
  for (const AddedToken& t : spec.added)
    if (t.content == content) return t.id;
  for (TokenId id = 0; id < spec.pieces.size(); ++id)
    if (spec.pieces[id].data() && spec.pieces[id] == content) return id;
  return std::nullopt;
}

std::string_view text_of(const MappedFile& file) {
  if (file.size() > max_file_bytes)
    fail_input("{}: {} bytes; at most {} are accepted", file.name(), file.size(), max_file_bytes);
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

}  // namespace

namespace {

enum class Wrapping { from_file, from_config };

// `wrapping` from_config: the file leaves it to the configuration what stands around a text.
void apply_config(std::string_view config, std::string_view config_file, Wrapping wrapping, bool bos_by_default,
                  TokenizerSpec& spec) {
  TokenizerSpec unused;
  unused.source = config_file;
  nlohmann::json root;
  parse_tokenizer_json(config, unused, root);
  const JsonField field(&root, "", config_file);
  add_tokens_of_config(field["added_tokens_decoder"], spec);
  for (auto [name, token] : {std::pair("bos_token", &spec.bos),
                             {"eos_token", &spec.eos},
                             {"unk_token", &spec.unknown},
                             {"pad_token", &spec.padding}})
    if (field[name].is_there()) *token = role(field[name], spec);
  if (spec.eos) spec.end_ids.assign(1, *spec.eos);
  if (wrapping == Wrapping::from_file) return;
  spec.prefix.clear();
  spec.suffix.clear();
  if (field["add_bos_token"].truth(bos_by_default) && spec.bos) spec.prefix.push_back(*spec.bos);
  if (field["add_eos_token"].truth(false) && spec.eos) spec.suffix.push_back(*spec.eos);
}

}  // namespace

TokenizerSpec read_tokenizer_json(std::string_view json, std::string_view file, std::string_view config,
                                  std::string_view config_file) {
  TokenizerSpec spec;
  spec.source = file;
  nlohmann::json root;
  const FoundParts found = parse_tokenizer_json(json, spec, root);
  const JsonField field(&root, "", spec.source);
  if (field["version"].text("1.0") != "1.0") field["version"].fail("is not \"1.0\", the only version known");
  read_model(field["model"], found, spec);
  read_added_tokens(field["added_tokens"], spec);
  read_normalizer(field["normalizer"], spec);
  read_pre_tokenizer(field["pre_tokenizer"], spec);
  read_decoder(field["decoder"], spec);
  read_post_processor(field["post_processor"], spec);
  const bool wrapped = field["post_processor"].is_there();
  if (!config.empty())
    apply_config(config, config_file, wrapped ? Wrapping::from_file : Wrapping::from_config, false, spec);
  return spec;
}

TokenizerSpec load_tokenizer(const std::filesystem::path& path) {
  namespace fs = std::filesystem;
  const bool is_folder = fs::is_directory(path);
  const fs::path folder = is_folder ? path : path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::optional<fs::path> file = path;
  if (is_folder) {
    file = file_in(folder, "tokenizer.json");
    if (!file) file = file_in(folder, "tokenizer.model");
    if (!file) fail_input("{}: neither tokenizer.json nor tokenizer.model is there", path.string());
  }
  const MappedFile mapped(*file);
  const std::optional<fs::path> config_path = file_in(folder, "tokenizer_config.json");
  std::optional<MappedFile> config;
  if (config_path) config.emplace(*config_path);
  const std::string_view config_text = config ? text_of(*config) : std::string_view();
  const std::string config_name = config ? config->name() : std::string();
  if (file->extension() != ".model")
    return read_tokenizer_json(text_of(mapped), mapped.name(), config_text, config_name);
  TokenizerSpec spec = read_sentencepiece(mapped.bytes(), mapped.name());
  if (config) apply_config(config_text, config_name, Wrapping::from_config, spec.bos.has_value(), spec);
  return spec;
}

}  // namespace ridge::io
