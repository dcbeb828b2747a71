#include "io/find_model.h"

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "io/quote.h"

namespace ridge::io {
namespace fs = std::filesystem;
namespace {

struct Candidate {
  std::string name;  // as an argument that means only this one
  fs::path path;
};

std::string_view last_part(std::string_view repo) { return repo.substr(repo.find('/') + 1); }

// What the name asks for, in a repository that is in the cache.
Candidate in_repo(const CachedRepo& repo, const ModelName& name) {
  const std::string all = repo.name + (name.revision.empty() ? "" : "@" + name.revision);
  const CachedSnapshot* snapshot = find_snapshot(repo, name.revision);
  if (!snapshot)
    fail_input("{}: is not in the cache; 'ridge pull {}{}' fetches it", all, repo.name,
               name.revision.empty() ? "" : " --revision " + name.revision);
  try {
    const RepoChoice choice = choose_files(all, repo_files(*snapshot), name.file);
    const bool is_folder =
        name.file.empty() && choice.format != RepoFormat::gguf;  // whatever it holds: opening it will say
    return {all, is_folder ? snapshot->folder : snapshot->folder / choice.files.at(0)};
  } catch (const Error& e) {
    const std::string how = name.file.empty() ? "" : fmt::format("; 'ridge pull {}:{}' fetches it", all, name.file);
    fail_input("in the cache, {}{}", e.what(), how);
  }
}

// "model.Q4_1", "model.Q4_1.gguf", and of a split one the name without a part's number.
bool is_called(const GgufGroup& g, std::string_view name,
               const std::function<bool(std::string_view, std::string_view)>& equal) {
  const std::string_view file = std::string_view(g.name).substr(g.name.rfind('/') + 1);
  return equal(g.stem, name) || equal(file, name) || equal(g.stem + ".gguf", name);
}

std::vector<Candidate> files_called(std::string_view name, const CacheFolders& caches,
                                    const std::function<bool(std::string_view, std::string_view)>& equal) {
  std::vector<Candidate> found;
  for (const OwnModel& m : own_models(caches.ridge))
    if (equal(m.name, name) || equal(m.name + ".gguf", name)) found.push_back({m.files[0].string(), m.files[0]});
  for (const CachedRepo& repo : cached_repos(caches.hub))
    for (const CachedSnapshot& s : repo.snapshots)
      for (const GgufGroup& g : gguf_groups(repo_files(s)))
        if (is_called(g, name, equal))
          found.push_back({repo.name + "@" + (s.refs.empty() ? s.commit.substr(0, 12) : s.refs[0]) + ":" + g.name,
                           s.folder / g.name});
  return found;
}

// The same file in several revisions of a repository is one file.
void drop_equal(std::vector<Candidate>& found) {
  std::vector<Candidate> kept;
  for (Candidate& c : found) {
    std::error_code error;
    const fs::path target = fs::canonical(c.path, error);
    const bool seen = std::any_of(kept.begin(), kept.end(),
                                  [&](const Candidate& k) { return fs::canonical(k.path, error) == target; });
    if (!seen) kept.push_back(std::move(c));
  }
  found = std::move(kept);
}

std::vector<Candidate> candidates(const std::string& argument, const std::optional<ModelName>& name,
                                  const CacheFolders& caches) {
  std::vector<Candidate> found;
  if (name) {
    const std::vector<CachedRepo> repos = repos_named(name->repo, caches.hub);
    if (repos.size() == 1) found.push_back(in_repo(repos[0], *name));
    else
      for (const CachedRepo& repo : repos) found.push_back({repo.name, repo.folder});
    if (repos.size() == 1 && repos[0].name == name->repo) return found;  // its full name: nothing else is meant
  }
  const auto exact = [](std::string_view a, std::string_view b) { return a == b; };
  std::vector<Candidate> files = files_called(argument, caches, exact);
  if (files.empty() && found.empty()) files = files_called(argument, caches, equal_ignoring_case);
  drop_equal(files);
  for (Candidate& f : files) found.push_back(std::move(f));
  return found;
}

bool looks_like_a_file(std::string_view text) {
  for (const char* ending : {".gguf", ".safetensors", ".json", ".model", ".jinja"})
    if (text.ends_with(ending)) return true;
  return false;
}

[[noreturn]] void fail_not_found(const std::string& argument, const std::optional<ModelName>& name) {
  const bool may_be_hub = name && name->repo.find('/') != std::string::npos && !looks_like_a_file(name->repo);
  if (may_be_hub)
    fail_input(
        "{}: there is no such file or folder, and no such model in the cache; 'ridge pull {}' fetches it from the hub",
        argument, argument);
  fail_input("{}: there is no such file or folder, and no model in the caches is called so ('ridge models' lists them)",
             argument);
}

}  // namespace

std::vector<CachedRepo> repos_named(std::string_view name, const fs::path& cache) {
  if (auto repo = cached_repo(cache, name)) return {*std::move(repo)};
  const std::vector<CachedRepo> all = cached_repos(cache);
  const bool full = name.find('/') != name.npos;
  std::vector<CachedRepo> exact, similar;
  for (const CachedRepo& repo : all) {
    const std::string_view called = full ? std::string_view(repo.name) : last_part(repo.name);
    if (called == name) exact.push_back(repo);
    else if (equal_ignoring_case(called, name)) similar.push_back(repo);
  }
  return exact.empty() ? similar : exact;
}

std::vector<OwnModel> own_models(const fs::path& cache) {
  std::vector<OwnModel> models;
  std::vector<RepoFile> files;
  std::error_code error;
  for (fs::directory_iterator at(cache, error), end; !cache.empty() && !error && at != end; at.increment(error)) {
    std::error_code gone;
    const std::string name = at->path().filename().string();
    if (name.starts_with('.') || !is_safe_file(name)) continue;
    if (fs::is_regular_file(at->path(), gone)) files.push_back({name, fs::file_size(at->path(), gone)});
    else if (fs::is_regular_file(at->path() / "config.json", gone)) models.push_back({name, {at->path()}});
  }
  for (const GgufGroup& g : gguf_groups(files)) {
    OwnModel m{g.stem, {}};
    for (const std::string& file : g.files) m.files.push_back(cache / file);
    models.push_back(std::move(m));
  }
  std::sort(models.begin(), models.end(), [](const OwnModel& a, const OwnModel& b) { return a.name < b.name; });
  return models;
}

fs::path find_model(const std::string& argument, const CacheFolders& caches) {
  std::error_code error;
  if (fs::exists(argument, error)) return argument;
  const std::optional<ModelName> name = parse_model_name(argument);
  const std::vector<Candidate> found = candidates(argument, name, caches);
  if (found.empty()) fail_not_found(argument, name);
  if (found.size() == 1) return found[0].path;
  std::string list;
  for (const Candidate& c : found) list += (list.empty() ? "" : ", ") + c.name;
  fail_input("{}: several models in the caches are called so; name one: {}", argument, list);
}

}  // namespace ridge::io
