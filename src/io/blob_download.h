// One file of the hub into the cache: resumed where an earlier attempt ended, checked against its hash, and only then
// under its own name.
#pragma once
#include <filesystem>
#include <functional>
#include <string>

#include "io/hub_client.h"

namespace ridge::io {

struct BlobRequest {
  std::string repo, commit, file;
  FileFacts facts;
  std::filesystem::path blob;  // blobs/HASH; blob.incomplete while it comes, which an interruption leaves behind
  std::filesystem::path lock;  // held meanwhile, so that two processes do not fetch the same file
};

// Whether the blob is there, as long as it should be.
bool has_blob(const BlobRequest& request);

// Bytes that an earlier attempt left.
std::uint64_t begun_bytes(const BlobRequest& request);

// Returns the bytes that came over the network; 0 where another process fetched it meanwhile. `progress` gets how many
// bytes of the file are there. Throws Interrupted. Fails (input) on a wrong hash, whose bytes are thrown away.
std::uint64_t download_blob(HubClient& hub, const BlobRequest& request,
                            const std::function<void(std::uint64_t)>& progress);

}  // namespace ridge::io
