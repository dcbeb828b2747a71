// What can be run without a download: the models of the hub's cache and of ridge's own.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "io/hub_settings.h"

namespace ridge::io {

enum class CacheKind : std::uint8_t { hub, ridge };

struct CachedModel {
  std::string name;      // what a verb takes: "org/name", "org/name:file", or in ridge's own cache the file's name
  std::string revision;  // a branch or tag, or the start of a commit; empty in ridge's own cache
  std::string commit;
  std::string format;  // "safetensors", "GGUF", "other files", "unfinished"
  std::vector<std::string> files;
  std::uint64_t bytes = 0;
  std::filesystem::path path;  // of the model; of the repository where there is none
  CacheKind cache = CacheKind::hub;
};

// Sorted by name. Unfinished downloads come last, one entry for each repository.
std::vector<CachedModel> cached_models(const CacheFolders& caches);

std::uint64_t bytes_on_disk(const CacheFolders& caches);  // of all of them: files that several share once

struct Removal {
  std::string what;                          // in words
  std::vector<std::filesystem::path> paths;  // in the order in which they go: links first, blobs last
  std::vector<std::filesystem::path> locks;  // of downloads that must not be under way
  std::uint64_t bytes = 0;                   // that this frees
};

// What goes when the model of this name goes: a repository, one of its revisions (NAME@REVISION), one of its files
// (NAME:FILE), or a file of ridge's own cache. Blobs go when nothing else refers to them. Nothing outside the caches,
// and nothing that a link leads to. Fails (input) where no model, or more than one, is called so.
Removal plan_removal(const std::string& name, const CacheFolders& caches);

// Fails (input) when one of the files is being downloaded.
void remove(const Removal& removal);

}  // namespace ridge::io
