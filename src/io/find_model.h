// What a model argument names: a path, or a model in a cache. Nothing is fetched.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/hub_cache.h"
#include "io/hub_settings.h"

namespace ridge::io {

// A path that is there is taken as it is. Else NAME[@REVISION][:FILE] of a repository in the hub's cache, where the
// part before the slash may be left out when it is clear; or the name of a GGUF file in a cache, with or without its
// ending. Fails (input), listing what could be meant when there are several, and saying how to fetch it when there is
// none.
std::filesystem::path find_model(const std::string& argument, const CacheFolders& caches = cache_folders());

// The repositories of the hub's cache that a name could mean: of that name, else of that name without its first part,
// else the same without regard to capitals.
std::vector<CachedRepo> repos_named(std::string_view name, const std::filesystem::path& cache);

struct OwnModel {                            // in ridge's own cache
  std::string name;                          // the file's or folder's, without ".gguf"
  std::vector<std::filesystem::path> files;  // parts of a split file in order; a folder alone
};
std::vector<OwnModel> own_models(const std::filesystem::path& cache);

}  // namespace ridge::io
