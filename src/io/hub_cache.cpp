#include "io/hub_cache.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "base/error.h"
#include "io/folder.h"
#include "io/output_file.h"
#include "io/quote.h"

namespace ridge::io {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t most_entries = 100'000;  // of one folder tree; what lies beyond is not looked at
constexpr std::uint64_t most_ref_bytes = 256;
constexpr std::size_t shortest_commit = 7;

// The paths below a folder that are no folders, in order; links to folders are not entered.
std::vector<fs::path> entries_below(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end && found.size() < most_entries;
       at.increment(error)) {
    std::error_code gone;
    if (fs::symlink_status(at->path(), gone).type() != fs::file_type::directory) found.push_back(at->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end && found.size() < most_entries;
       at.increment(error))
    found.push_back(at->path());
  std::sort(found.begin(), found.end());
  return found;
}

bool is_folder(const fs::path& path) {  // itself, not a link to one
  std::error_code error;
  return fs::symlink_status(path, error).type() == fs::file_type::directory;
}

std::optional<CachedFile> cached_file(const fs::path& snapshot, const fs::path& entry) {
  std::error_code error;
  if (!fs::is_regular_file(entry, error)) return std::nullopt;
  CachedFile file{entry.lexically_relative(snapshot).generic_string(), entry, entry, fs::file_size(entry, error)};
  if (fs::is_symlink(entry, error))
    file.blob = (entry.parent_path() / fs::read_symlink(entry, error)).lexically_normal();
  return error || !is_safe_file(file.name) ? std::nullopt : std::optional(file);
}

std::string commit_in(const fs::path& ref) {
  std::error_code error;
  if (!fs::is_regular_file(ref, error) || fs::file_size(ref, error) > most_ref_bytes) return "";
  std::string text = read_text_file(ref, most_ref_bytes);
  while (text.ends_with('\n') || text.ends_with(' ')) text.pop_back();
  return text;
}

CachedRepo read_repo(const fs::path& folder, std::string name) {
  CachedRepo repo{std::move(name), folder, {}, {}};
  for (const fs::path& commit : entries_of(folder / "snapshots")) {
    if (!is_folder(commit)) continue;
    CachedSnapshot snapshot{commit.filename().string(), {}, commit, {}};
    for (const fs::path& entry : entries_below(commit))
      if (auto file = cached_file(commit, entry)) snapshot.files.push_back(*std::move(file));
    repo.snapshots.push_back(std::move(snapshot));
  }
  for (const fs::path& ref : entries_below(folder / "refs")) {
    const std::string revision = ref.lexically_relative(folder / "refs").generic_string(), commit = commit_in(ref);
    for (CachedSnapshot& s : repo.snapshots)
      if (s.commit == commit && is_revision(revision)) s.refs.push_back(revision);
  }
  for (const fs::path& blob : entries_of(folder / "blobs"))
    if (blob.extension() == ".incomplete") repo.unfinished.push_back(blob);
  return repo;
}

std::string listed(const CachedRepo& repo) {
  std::string text;
  for (const CachedSnapshot& s : repo.snapshots)
    text += fmt::format("{}{}@{}", text.empty() ? "" : ", ", repo.name,
                        s.refs.empty() ? s.commit.substr(0, 12) : s.refs[0]);
  return text;
}

// Makes root/path, folder by folder: a link in the place of one of them could lead anywhere.
void make_folders(const fs::path& root, const fs::path& path) {
  std::error_code error;
  fs::create_directories(root, error);
  fs::path at = root;
  for (const fs::path& part : path) {
    at /= part;
    if (!error) fs::create_directory(at, error);
    if (error) fail_machine("{}: cannot be made: {}", at.string(), error.message());
    if (!is_folder(at)) fail_input("{}: is not a folder of the cache; a link is not followed there", at.string());
  }
}

// A name for something that is made in one step.
fs::path temporary_in(const fs::path& repo_folder) { return repo_folder / fmt::format(".new-{}", ::getpid()); }

void rename_over(const fs::path& from, const fs::path& to) {
  std::error_code error, ignored;
  fs::rename(from, to, error);
  if (error) fs::remove(from, ignored);
  if (error) fail_input("{}: cannot be replaced: {}", to.string(), error.message());
}

}  // namespace

std::uint64_t CachedSnapshot::bytes() const {
  std::set<fs::path> seen;
  std::uint64_t sum = 0;
  for (const CachedFile& f : files)
    if (seen.insert(f.blob).second) sum += f.bytes;
  return sum;
}

std::vector<CachedRepo> cached_repos(const fs::path& cache) {
  std::vector<CachedRepo> repos;
  if (cache.empty()) return repos;
  for (const fs::path& folder : entries_of(cache)) {
    std::error_code error;
    const auto name = repo_of_folder(folder.filename().string());
    if (name && fs::is_directory(folder, error)) repos.push_back(read_repo(folder, *name));
  }
  return repos;
}

std::optional<CachedRepo> cached_repo(const fs::path& cache, std::string_view name) {
  std::error_code error;
  const fs::path folder = cache / repo_folder(name);
  if (cache.empty() || !is_repo_name(name) || !fs::is_directory(folder, error)) return std::nullopt;
  return read_repo(folder, std::string(name));
}

const CachedSnapshot* find_snapshot(const CachedRepo& repo, std::string_view revision) {
  const auto has_ref = [](const CachedSnapshot& s, std::string_view ref) {
    return std::find(s.refs.begin(), s.refs.end(), ref) != s.refs.end();
  };
  for (const CachedSnapshot& s : repo.snapshots)
    if (s.commit == revision || has_ref(s, revision.empty() ? "main" : revision)) return &s;
  std::vector<const CachedSnapshot*> fitting;
  for (const CachedSnapshot& s : repo.snapshots)
    if (revision.empty() || (revision.size() >= shortest_commit && s.commit.starts_with(revision)))
      fitting.push_back(&s);
  if (fitting.size() > 1) fail_input("{}: several revisions are in the cache; name one: {}", repo.name, listed(repo));
  return fitting.empty() ? nullptr : fitting[0];
}

std::vector<RepoFile> repo_files(const CachedSnapshot& snapshot) {
  std::vector<RepoFile> files;
  for (const CachedFile& f : snapshot.files) files.push_back({f.name, f.bytes});
  return files;
}

void write_ref(const fs::path& repo_folder, std::string_view revision, std::string_view commit) {
  if (!is_revision(revision) || !is_commit(commit)) fail_bug("ref {} -> {}", revision, commit);
  if (revision == commit) return;
  const fs::path ref = fs::path("refs") / revision;
  if (commit_in(repo_folder / ref) == commit) return;
  make_folders(repo_folder, ref.parent_path());
  OutputFile file(temporary_in(repo_folder));
  file.write(commit);
  file.finish();
  rename_over(file.name(), repo_folder / ref);
}

void link_blob(const fs::path& repo_folder, std::string_view commit, std::string_view file, std::string_view blob) {
  if (!is_commit(commit) || !is_safe_file(file) || !is_safe_file(blob) || blob.find('/') != blob.npos)
    fail_bug("link {}/{} -> {}", commit, quote(file), quote(blob));
  const fs::path entry = fs::path("snapshots") / commit / file;
  make_folders(repo_folder, entry.parent_path());
  const fs::path target = (fs::path("blobs") / blob).lexically_relative(entry.parent_path());
  std::error_code error;
  if (fs::read_symlink(repo_folder / entry, error) == target) return;
  const fs::path temporary = temporary_in(repo_folder);
  fs::remove(temporary, error);
  fs::create_symlink(target, temporary, error);
  if (error) fail_machine("{}: a symbolic link cannot be made: {}", temporary.string(), error.message());
  rename_over(temporary, repo_folder / entry);
}

}  // namespace ridge::io
