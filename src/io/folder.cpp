#include "io/folder.h"

#include <algorithm>

#include "base/error.h"
#include "io/mapped_file.h"
#include "io/quote.h"

namespace ridge::io {
namespace fs = std::filesystem;
namespace {

bool lies_in(const fs::path& file, const fs::path& folder) {  // both canonical
  const auto [rest, _] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  return rest == folder.end();
}

// Whether it is a blob of the hub's cache, where `folder` is REPO/snapshots/REVISION: in REPO/blobs, or in the store
// beside REPO that newer Pythons share between repositories and mark with a file.
bool is_hub_blob(const fs::path& file, const fs::path& folder) {
  if (folder.parent_path().filename() != "snapshots") return false;
  const fs::path repo = folder.parent_path().parent_path(), store = repo.parent_path() / "blobs";
  std::error_code missing;
  const fs::path blobs = fs::canonical(repo / "blobs", missing);
  if (!missing && lies_in(file, blobs)) return true;
  return fs::is_regular_file(store / ".huggingface-shared-blobs", missing) && lies_in(file, store);
}

}  // namespace

std::optional<fs::path> file_in(const fs::path& folder, std::string_view name) {
  if (name.empty() || name == "." || name == ".." || name.find('/') != name.npos || name.find('\0') != name.npos)
    fail_input("{}: the file name {} is not a plain one; names with a folder in them are refused", folder.string(),
               quote(name));
  const fs::path path = folder / fs::path(name);
  std::error_code error;
  if (fs::symlink_status(path, error).type() == fs::file_type::not_found) return std::nullopt;
  const fs::path target = fs::canonical(path, error);
  if (error) fail_input("{}: cannot be followed: {}", path.string(), error.message());
  const fs::path home = fs::canonical(folder.empty() ? "." : folder, error);
  if (error) fail_input("{}: cannot be followed: {}", folder.string(), error.message());
  if (!lies_in(target, home) && !is_hub_blob(target, home))
    fail_input("{}: is a symbolic link that leaves its folder, to {}; it is not followed", path.string(),
               target.string());
  return path;
}

fs::path required_file_in(const fs::path& folder, std::string_view name, std::string_view named_by) {
  auto path = file_in(folder, name);
  if (!path) fail_input("{}: is missing; {} names it", (folder / fs::path(name)).string(), named_by);
  return *std::move(path);
}

std::string read_text_file(const fs::path& path, std::uint64_t limit) {
  const MappedFile file(path);
  if (file.size() > limit) fail_input("{}: has {} bytes; {} is the most", file.name(), file.size(), limit);
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

}  // namespace ridge::io
