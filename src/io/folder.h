// Files beside one another: a model folder, and what may be read from it by a name that a file in it gives.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace ridge::io {

// The path of the file `name` in `folder`; empty when there is none. Fails (input) when the name is not a plain file
// name (it holds a slash, or is "." or ".."), or when it is a symbolic link that leads out of the folder. One
// exception, which the Hugging Face hub's cache needs: from REPO/snapshots/REVISION, links into REPO/blobs/ (and
// into the store of blobs that repositories share) are followed.
std::optional<std::filesystem::path> file_in(const std::filesystem::path& folder, std::string_view name);

// As file_in; a missing file is an error that says who named it.
std::filesystem::path required_file_in(const std::filesystem::path& folder, std::string_view name,
                                       std::string_view named_by);

// All of a small file, of at most `limit` bytes.
std::string read_text_file(const std::filesystem::path& path, std::uint64_t limit);

}  // namespace ridge::io
