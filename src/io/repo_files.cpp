#include "io/repo_files.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "base/error.h"
#include "base/format.h"
#include "io/gguf.h"
#include "io/hub_name.h"
#include "io/quote.h"

namespace ridge::io {
namespace {

constexpr std::size_t most_listed = 40;

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}

bool in_root(std::string_view path) { return path.find('/') == path.npos; }

const RepoFile* find(std::span<const RepoFile> files, std::string_view name) {
  const auto at = std::find_if(files.begin(), files.end(), [&](const RepoFile& f) { return f.name == name; });
  return at == files.end() ? nullptr : &*at;
}

// Beside weights: what config, tokenizer and templates are read from.
bool is_sidecar(std::string_view name) {
  static constexpr std::string_view names[] = {"config.json",
                                               "generation_config.json",
                                               "tokenizer.json",
                                               "tokenizer.model",
                                               "tokenizer_config.json",
                                               "special_tokens_map.json",
                                               "added_tokens.json",
                                               "vocab.json",
                                               "merges.txt",
                                               "chat_template.jinja",
                                               "chat_template.json"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names) ||
         (name.starts_with("additional_chat_templates/") && name.ends_with(".jinja"));
}

std::string listed(std::span<const GgufGroup> groups, std::string_view repo) {
  std::string text;
  for (const GgufGroup& g : groups.first(std::min(groups.size(), most_listed))) {
    std::string more = g.bytes ? format_bytes(double(*g.bytes)) : "";
    if (g.parts > 1) more += fmt::format("{}{} parts", more.empty() ? "" : " in ", g.parts);
    text += fmt::format("{}{}:{}", text.empty() ? "" : ", ", repo, g.name);
    if (!more.empty()) text += " (" + more + ")";
  }
  if (groups.size() > most_listed) text += fmt::format(" and {} more", groups.size() - most_listed);
  return text;
}

RepoChoice gguf_choice(const GgufGroup& g, std::string_view repo) {
  if (g.files.size() != g.parts)
    fail_input("{}: {} says that it has {} parts; {} are there", repo, quote(g.name), g.parts, g.files.size());
  return {.format = RepoFormat::gguf, .files = g.files, .index = {}, .why_none = {}};
}

bool holds(const GgufGroup& g, std::string_view file) {
  return std::find(g.files.begin(), g.files.end(), file) != g.files.end();
}

RepoChoice choose_named(std::string_view repo, std::span<const RepoFile> files, std::string_view wanted) {
  const std::vector<GgufGroup> groups = gguf_groups(files);
  for (const GgufGroup& g : groups)
    if (holds(g, wanted)) return gguf_choice(g, repo);
  if (find(files, wanted)) {
    const bool weights = wanted.ends_with(".safetensors");
    return {.format = weights ? RepoFormat::safetensors : RepoFormat::file,
            .files = {std::string(wanted)},
            .index = {},
            .why_none = {}};
  }
  std::vector<GgufGroup> fitting;
  for (const GgufGroup& g : groups)
    if (has_label(g.stem, wanted)) fitting.push_back(g);
  if (fitting.size() == 1) return gguf_choice(fitting[0], repo);
  if (!fitting.empty())
    fail_input("{}: {} GGUF models are called {}; name one: {}", repo, fitting.size(), quote(wanted),
               listed(fitting, repo));
  if (groups.empty()) fail_input("{}: has no file {}", repo, quote(wanted));
  fail_input("{}: has no file or GGUF model called {}; it has {}", repo, quote(wanted), listed(groups, repo));
}

RepoChoice choose_safetensors(std::span<const RepoFile> files) {
  RepoChoice choice{.format = RepoFormat::safetensors, .files = {}, .index = {}, .why_none = {}};
  for (const RepoFile& f : files)
    if (is_sidecar(f.name)) choice.files.push_back(f.name);
  std::vector<std::string> weights;
  for (const RepoFile& f : files)
    if (in_root(f.name) && f.name.ends_with(".safetensors")) weights.push_back(f.name);
  const RepoFile* whole = find(files, "model.safetensors");
  const RepoFile* index = find(files, "model.safetensors.index.json");
  if (whole) choice.files.push_back(whole->name);
  else if (index) choice.index = index->name;
  else if (weights.size() == 1) choice.files.push_back(weights[0]);
  else
    return {.format = RepoFormat::none,
            .files = {},
            .index = {},
            .why_none = fmt::format("holds {} .safetensors files, none of them model.safetensors, and no index",
                                    weights.size())};
  if (!choice.index.empty()) choice.files.push_back(choice.index);
  return choice;
}

std::string why_no_model(std::span<const RepoFile> files) {
  for (const RepoFile& f : files)
    for (const char* ending : {".bin", ".pt", ".pth", ".ckpt"})
      if (f.name.ends_with(ending))
        return fmt::format(
            "its weights are pickled ({}), which could execute code and is neither fetched nor read; ask for "
            "safetensors",
            quote(f.name));
  for (const RepoFile& f : files)
    if (f.name.ends_with(".safetensors") && in_root(f.name))
      return "holds .safetensors files, but no config.json that says what model they are";
  return "holds neither a config.json with .safetensors files nor a GGUF model";
}

}  // namespace

std::vector<GgufGroup> gguf_groups(std::span<const RepoFile> files) {
  std::map<std::string, std::map<std::uint64_t, const RepoFile*>> parts;  // by the name without a part's number
  std::map<std::string, std::uint64_t> count;
  for (const RepoFile& f : files) {
    if (!f.name.ends_with(".gguf") || base_name(f.name).starts_with("mmproj"))
      continue;  // mmproj: a vision tower alone
    const auto part = gguf_part_name(f.name);
    const bool split = part && part->number >= 1 && part->number <= part->count;
    const std::string key = split ? fmt::format("{}-of-{:05}", part->prefix, part->count) : f.name;
    parts[key][split ? part->number : 1] = &f;
    count[key] = split ? part->count : 1;
  }
  std::vector<GgufGroup> groups;
  for (const auto& [key, members] : parts) {
    GgufGroup g;
    g.name = members.begin()->second->name;
    g.parts = count[key];
    const auto part = gguf_part_name(g.name);
    g.stem = base_name(part ? std::string_view(part->prefix) : std::string_view(g.name).substr(0, g.name.size() - 5));
    g.bytes = 0;
    for (const auto& [number, file] : members) {
      g.files.push_back(file->name);
      g.bytes = g.bytes && file->bytes ? std::optional(*g.bytes + *file->bytes) : std::nullopt;
    }
    groups.push_back(std::move(g));
  }
  return groups;
}

bool has_label(std::string_view stem, std::string_view label) {
  const auto is_border = [](char c) { return c == '-' || c == '.' || c == ' '; };
  if (label.empty()) return false;
  for (std::size_t at = 0; at + label.size() <= stem.size(); ++at) {
    const std::size_t end = at + label.size();
    if (equal_ignoring_case(stem.substr(at, label.size()), label) && (at == 0 || is_border(stem[at - 1])) &&
        (end == stem.size() || is_border(stem[end])))
      return true;
  }
  return false;
}

bool may_execute(std::string_view file) {
  for (const char* ending : {".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".py", ".sh", ".so", ".h5", ".npz",
                             ".npy", ".joblib", ".exe", ".dll", ".ipynb", ".whl", ".zip"})
    if (file.ends_with(ending)) return true;
  return false;
}

bool is_fetched(std::string_view file) {
  for (const char* ending : {".safetensors", ".gguf", ".json", ".jinja", ".model", ".txt", ".md"})
    if (file.ends_with(ending)) return true;
  return false;
}

RepoChoice choose_files(std::string_view repo, std::span<const RepoFile> files, std::string_view wanted) {
  if (!wanted.empty()) return choose_named(repo, files, wanted);
  RepoChoice choice{.format = RepoFormat::none, .files = {}, .index = {}, .why_none = why_no_model(files)};
  const bool weights = std::any_of(files.begin(), files.end(), [](const RepoFile& f) {
    return in_root(f.name) && f.name.ends_with(".safetensors");
  });
  if (weights && find(files, "config.json")) choice = choose_safetensors(files);
  if (choice.format != RepoFormat::none) return choice;
  const std::vector<GgufGroup> groups = gguf_groups(files);
  if (groups.size() > 1)
    fail_input("{}: has {} GGUF models; name one, or its type ({}:Q4_K_M): {}", repo, groups.size(), repo,
               listed(groups, repo));
  return groups.empty() ? choice : gguf_choice(groups[0], repo);
}

}  // namespace ridge::io
