// A model from the hub into its cache.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "io/hub_name.h"
#include "io/hub_settings.h"

namespace ridge::io {

struct PulledFile {
  std::string name, hash;
  std::uint64_t bytes = 0;
  std::uint64_t came = 0;  // bytes that came over the network
};

struct Pulled {
  std::string repo, revision, commit;
  std::string argument;        // what other verbs call it
  std::filesystem::path path;  // of the folder, or of the (first) GGUF file
  std::vector<PulledFile> files;
  std::vector<std::string> refused;  // of the repository, not fetched since they could execute code
  bool was_interrupted = false;      // what came stays; the same call goes on from there

  std::uint64_t bytes() const;
  std::uint64_t came() const;
};

struct PullOptions {
  HubAccess access;
  CacheFolders caches;
  int retries = 5;
};

// Fetches what choose_files picks: all of one commit, each file checked against its hash, into the cache that Python
// shares. Offline (access.offline): says what the cache has, and fails when that is not all. Fails (input) on a model
// that ridge does not run, on names and sizes that make no sense; (machine) when the disk has no room.
Pulled pull(const ModelName& name, const PullOptions& options);

}  // namespace ridge::io
