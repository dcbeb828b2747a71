// The hub's cache on disk, shared with Python's huggingface_hub:
//   models--ORG--NAME/blobs/HASH                   each file once, by its hash; HASH.incomplete while it comes
//   models--ORG--NAME/refs/REVISION                the commit that a branch or a tag stands for
//   models--ORG--NAME/snapshots/COMMIT/PATH        a symbolic link to ../../blobs/HASH
//   .locks/models--ORG--NAME/HASH.lock             held (flock) by whoever fetches that file
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/hub_name.h"
#include "io/repo_files.h"

namespace ridge::io {

struct CachedFile {
  std::string name;             // its path in the repository
  std::filesystem::path entry;  // in the snapshot
  std::filesystem::path blob;  // what `entry` links to, or `entry` itself where it is a file (some disks have no links)
  std::uint64_t bytes = 0;
};

struct CachedSnapshot {
  std::string commit;
  std::vector<std::string> refs;  // branches and tags that stand for it
  std::filesystem::path folder;
  std::vector<CachedFile> files;  // in order of names; links whose blob is gone are not listed
  std::uint64_t bytes() const;    // each blob once
};

struct CachedRepo {
  std::string name;  // "org/name"
  std::filesystem::path folder;
  std::vector<CachedSnapshot> snapshots;
  std::vector<std::filesystem::path> unfinished;  // blobs/*.incomplete
};

// What the cache holds; nothing where there is no cache. Links are not followed to other folders.
std::vector<CachedRepo> cached_repos(const std::filesystem::path& cache);
std::optional<CachedRepo> cached_repo(const std::filesystem::path& cache, std::string_view name);

// The snapshot that a revision names: a ref, a commit, or the first 7 or more digits of one. Without a revision: main,
// or else the only one. Null: there is none such. Fails (input), listing them, when several could be meant.
const CachedSnapshot* find_snapshot(const CachedRepo& repo, std::string_view revision);

std::vector<RepoFile> repo_files(const CachedSnapshot& snapshot);

// Writing. All names must have passed hub_name.h; they are checked again.
void write_ref(const std::filesystem::path& repo_folder, std::string_view revision, std::string_view commit);
// snapshots/COMMIT/FILE -> blobs/HASH, in one step where something else was there. Fails (input) where a link would
// lead the new entry out of the snapshot.
void link_blob(const std::filesystem::path& repo_folder, std::string_view commit, std::string_view file,
               std::string_view blob);

}  // namespace ridge::io
