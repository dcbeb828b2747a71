// Where models are kept and where they come from, as the environment says: the variables that Python's huggingface_hub
// reads, so that both use one cache and one token.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>

namespace ridge::io {

using Environment = std::function<const char*(const char*)>;  // null: the variable is not set
inline const char* process_environment(const char* name) { return std::getenv(name); }

// Empty paths: neither the variables nor HOME say where.
struct CacheFolders {
  std::filesystem::path hub;    // HF_HUB_CACHE, HF_HOME/hub, XDG_CACHE_HOME/huggingface/hub, ~/.cache/huggingface/hub
  std::filesystem::path ridge;  // XDG_CACHE_HOME/ridge, ~/.cache/ridge
};
CacheFolders cache_folders(const Environment& environment = process_environment);

struct HubAccess {
  std::string endpoint;       // HF_ENDPOINT, without a slash at its end
  std::string token;          // empty: none. It is sent to the endpoint, and to nobody else
  std::string token_from;     // the variable or the file that holds it
  std::string token_file;     // where a token would be looked for
  bool offline = false;       // HF_HUB_OFFLINE
  std::int64_t stall_s = 30;  // HF_HUB_DOWNLOAD_TIMEOUT: a transfer that stands still so long is dropped
};
// Fails (input) on an endpoint that is no http(s) address, and on a token that cannot stand in a header.
HubAccess hub_access(const Environment& environment = process_environment);

}  // namespace ridge::io
