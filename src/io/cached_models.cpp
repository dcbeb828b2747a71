#include "io/cached_models.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "io/file_lock.h"
#include "io/find_model.h"
#include "io/quote.h"

namespace ridge::io {
namespace fs = std::filesystem;
namespace {

std::uint64_t own_bytes(const fs::path& path) {  // of the file itself, not of what it links to
  std::error_code error;
  const bool regular = fs::symlink_status(path, error).type() == fs::file_type::regular;
  const std::uintmax_t bytes = regular ? fs::file_size(path, error) : 0;
  return error ? 0 : bytes;
}

std::uint64_t bytes_below(const fs::path& folder) {
  std::uint64_t sum = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    sum += own_bytes(at->path());
  return sum;
}

// ---- listing

void add_snapshot(std::vector<CachedModel>& models, const CachedRepo& repo, const CachedSnapshot& s) {
  CachedModel m{.name = repo.name,
                .revision = s.refs.empty() ? s.commit.substr(0, 12) : s.refs[0],
                .commit = s.commit,
                .format = "other files",
                .files = {},
                .bytes = 0,
                .path = s.folder};
  const std::vector<RepoFile> files = repo_files(s);
  const std::vector<GgufGroup> groups = gguf_groups(files);
  std::set<std::string> in_groups;
  for (const GgufGroup& g : groups) {
    CachedModel one = m;
    one.name += ":" + g.name;
    one.format = g.files.size() == g.parts ? "GGUF" : "GGUF, incomplete";
    one.files = g.files;
    one.bytes = g.bytes.value_or(0);
    one.path = s.folder / g.name;
    models.push_back(std::move(one));
    in_groups.insert(g.files.begin(), g.files.end());
  }
  std::set<fs::path> blobs;
  for (const CachedFile& f : s.files) {
    if (in_groups.contains(f.name)) continue;
    if (f.name.ends_with(".safetensors")) m.format = "safetensors";
    m.files.push_back(f.name);
    if (blobs.insert(f.blob).second) m.bytes += f.bytes;
  }
  if (!m.files.empty()) models.push_back(std::move(m));
}

void add_unfinished(std::vector<CachedModel>& models, const CachedRepo& repo) {
  if (repo.unfinished.empty()) return;
  CachedModel m{.name = repo.name,
                .revision = {},
                .commit = {},
                .format = "unfinished",
                .files = {},
                .bytes = 0,
                .path = repo.folder};
  for (const fs::path& file : repo.unfinished) {
    m.files.push_back("blobs/" + file.filename().string());
    m.bytes += own_bytes(file);
  }
  models.push_back(std::move(m));
}

void add_own(std::vector<CachedModel>& models, const OwnModel& own) {
  CachedModel m{.name = own.name,
                .revision = {},
                .commit = {},
                .format = "GGUF",
                .files = {},
                .bytes = 0,
                .path = own.files[0],
                .cache = CacheKind::ridge};
  std::error_code error;
  if (fs::is_directory(m.path, error)) m.format = "folder", m.bytes = bytes_below(m.path);
  for (const fs::path& file : own.files) {
    m.files.push_back(file.filename().string());
    if (m.format == "GGUF") m.bytes += fs::file_size(file, error);
  }
  models.push_back(std::move(m));
}

std::uint64_t repo_bytes(const fs::path& folder) {
  return bytes_below(folder / "blobs") + bytes_below(folder / "snapshots");
}

// ---- removing

fs::path lock_of(const CacheFolders& caches, const CachedRepo& repo, const fs::path& blob) {
  std::string hash = blob.filename().string();
  hash = hash.substr(0, hash.find('.'));  // HASH.incomplete; newer Pythons: HASH.RANDOM.incomplete
  return caches.hub / ".locks" / repo.folder.filename() / (hash + ".lock");
}

void check_is_ours(const CachedRepo& repo) {  // a link could lead to what is not the cache's
  for (const fs::path& folder : {repo.folder, repo.folder / "blobs", repo.folder / "snapshots", repo.folder / "refs"}) {
    std::error_code error;
    const fs::file_type type = fs::symlink_status(folder, error).type();
    if (type != fs::file_type::directory && type != fs::file_type::not_found)
      fail_input("{}: is a link, which is not followed; remove it by hand", folder.string());
  }
}

Removal whole_repo(const CachedRepo& repo, const CacheFolders& caches) {
  Removal r{repo.name, {}, {}, repo_bytes(repo.folder)};
  for (const char* part : {"refs", "snapshots", "trees", "blobs"}) r.paths.push_back(repo.folder / part);
  r.paths.push_back(repo.folder);
  for (const fs::path& blob : repo.unfinished) r.locks.push_back(lock_of(caches, repo, blob));
  return r;
}

// Some entries of a repository's snapshots: then the folders and refs that are left without any, then their blobs.
Removal some_entries(const CachedRepo& repo, const CacheFolders& caches, std::string what,
                     const std::vector<CachedFile>& gone) {
  Removal r{std::move(what), {}, {}, 0};
  std::set<fs::path> entries, kept_blobs, blobs;
  for (const CachedFile& f : gone) entries.insert(f.entry), r.paths.push_back(f.entry);
  bool any_left = false;
  for (const CachedSnapshot& s : repo.snapshots) {
    bool left = false;
    for (const CachedFile& f : s.files)
      if (!entries.contains(f.entry)) kept_blobs.insert(f.blob), left = true;
    any_left |= left;
    if (left) continue;
    for (const std::string& ref : s.refs) r.paths.push_back(repo.folder / "refs" / ref);
    r.paths.push_back(s.folder);
  }
  if (!any_left) return whole_repo(repo, caches);
  for (const CachedFile& f : gone) {
    const bool is_blob =
        f.blob.parent_path() == (repo.folder / "blobs").lexically_normal() && !kept_blobs.contains(f.blob);
    if (f.blob == f.entry) r.bytes += own_bytes(f.entry);
    else if (is_blob && blobs.insert(f.blob).second)
      r.paths.push_back(f.blob), r.locks.push_back(lock_of(caches, repo, f.blob)), r.bytes += own_bytes(f.blob);
  }
  return r;
}

Removal of_repo(const CachedRepo& repo, const ModelName& name, const CacheFolders& caches) {
  check_is_ours(repo);
  if (name.revision.empty() && name.file.empty()) return whole_repo(repo, caches);
  const CachedSnapshot* only = name.revision.empty() ? nullptr : find_snapshot(repo, name.revision);
  if (!name.revision.empty() && !only)
    fail_input("{}: revision {} is not in the cache", repo.name, quote(name.revision));
  std::vector<CachedFile> gone;
  for (const CachedSnapshot& s : repo.snapshots) {
    if (only && &s != only) continue;
    const std::vector<RepoFile> files = repo_files(s);
    std::vector<std::string> wanted;
    try {
      if (!name.file.empty()) wanted = choose_files(repo.name, files, name.file).files;
    } catch (const Error&) {
      if (only || repo.snapshots.size() == 1) throw;
      continue;  // another revision may have it
    }
    for (const CachedFile& f : s.files)
      if (name.file.empty() || std::find(wanted.begin(), wanted.end(), f.name) != wanted.end()) gone.push_back(f);
  }
  if (gone.empty()) fail_input("{}: no revision in the cache has {}", repo.name, quote(name.file));
  return some_entries(repo, caches,
                      repo.name + (only ? "@" + name.revision : "") + (name.file.empty() ? "" : ":" + name.file), gone);
}

Removal of_own(const OwnModel& m) {
  Removal r{m.name, m.files, {}, 0};
  for (const fs::path& p : m.files)
    r.bytes += own_bytes(p) + (fs::symlink_status(p).type() == fs::file_type::directory ? bytes_below(p) : 0);
  return r;
}

}  // namespace

std::vector<CachedModel> cached_models(const CacheFolders& caches) {
  std::vector<CachedModel> models;
  const std::vector<CachedRepo> repos = cached_repos(caches.hub);
  for (const CachedRepo& repo : repos)
    for (const CachedSnapshot& s : repo.snapshots) add_snapshot(models, repo, s);
  for (const OwnModel& own : own_models(caches.ridge)) add_own(models, own);
  std::stable_sort(models.begin(), models.end(),
                   [](const CachedModel& a, const CachedModel& b) { return a.name < b.name; });
  for (const CachedRepo& repo : repos) add_unfinished(models, repo);
  return models;
}

std::uint64_t bytes_on_disk(const CacheFolders& caches) {
  std::uint64_t sum = 0;
  for (const CachedRepo& repo : cached_repos(caches.hub)) sum += repo_bytes(repo.folder);
  for (const OwnModel& m : own_models(caches.ridge)) sum += of_own(m).bytes;
  return sum;
}

Removal plan_removal(const std::string& argument, const CacheFolders& caches) {
  const auto name = parse_model_name(argument);
  const std::vector<CachedRepo> repos = name ? repos_named(name->repo, caches.hub) : std::vector<CachedRepo>();
  std::vector<OwnModel> own = own_models(caches.ridge);
  std::erase_if(own, [&](const OwnModel& m) { return m.name != argument && m.name + ".gguf" != argument; });
  const bool full_name = repos.size() == 1 && repos[0].name == name->repo;
  if (full_name || (repos.size() == 1 && own.empty())) return of_repo(repos[0], *name, caches);
  if (repos.empty() && own.size() == 1) return of_own(own[0]);
  if (repos.empty() && own.empty())
    fail_input("{}: no model in the caches is called so ('ridge models' lists them)", argument);
  std::string list;
  for (const CachedRepo& r : repos) list += (list.empty() ? "" : ", ") + r.name;
  for (const OwnModel& m : own) list += (list.empty() ? "" : ", ") + m.files[0].string();
  fail_input("{}: several models in the caches are called so: {}; name one", argument, list);
}

void remove(const Removal& removal) {
  std::vector<FileLock> held;
  for (const fs::path& lock : removal.locks)
    if (!held.emplace_back().try_lock(lock)) fail_input("{}: is being downloaded; nothing was removed", removal.what);
  for (const fs::path& path : removal.paths) {
    std::error_code error;
    fs::remove_all(path, error);  // never through a link
    if (error) fail_machine("{}: cannot be removed: {}", path.string(), error.message());
  }
}

}  // namespace ridge::io
