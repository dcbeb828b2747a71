#include "io/pull.h"

#include <sys/statvfs.h>

#include <algorithm>

#include "base/error.h"
#include "base/format.h"
#include "base/progress.h"
#include "io/blob_download.h"
#include "io/hub_cache.h"
#include "io/quote.h"
#include "io/safetensors.h"

namespace ridge::io {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t most_text_bytes = std::uint64_t(1) << 30;  // of a file that holds no weights
constexpr std::uint64_t spare_bytes = 64 << 20;                    // that a disk keeps
constexpr std::size_t most_files = 10'000;

bool is_weights(std::string_view name) { return name.ends_with(".safetensors") || name.ends_with(".gguf"); }

RepoChoice choose(const std::string& repo, std::span<const RepoFile> files, const ModelName& name) {
  RepoChoice choice = choose_files(repo, files, name.file);
  if (choice.format == RepoFormat::none) fail_input("{}: {}", repo, choice.why_none);
  for (const std::string& file : choice.files)
    if (!is_fetched(file))
      fail_input(
          "{}: {} is not fetched{}; accepted are .safetensors, .gguf, and configuration, tokenizer and template files",
          repo, quote(file), may_execute(file) ? ", since it could execute code" : "");
  return choice;
}

// The shards that the index names, which must be among the files.
void add_shards(RepoChoice& choice, const fs::path& index, const std::string& repo, std::span<const RepoFile> files) {
  for (const std::string& shard : safetensors_shards(index)) {
    const bool is_there = std::any_of(files.begin(), files.end(), [&](const RepoFile& f) { return f.name == shard; });
    if (!is_there || !shard.ends_with(".safetensors"))
      fail_input("{}: {} names the shard {}, which is not there", repo, quote(choice.index), quote(shard));
    choice.files.push_back(shard);
  }
}

void set_place(Pulled& p, const ModelName& name, const RepoChoice& choice, const fs::path& snapshot) {
  const bool whole = name.file.empty() && choice.format != RepoFormat::gguf;
  p.path = whole ? snapshot : snapshot / choice.files.at(0);
  p.argument =
      name.repo + (name.revision.empty() ? "" : "@" + name.revision) + (name.file.empty() ? "" : ":" + name.file);
}

// ---- from the hub

class Puller {
 public:
  Puller(const ModelName& name, const PullOptions& options)
      : name_(name),
        folder_(options.caches.hub / repo_folder(name.repo)),
        locks_(options.caches.hub / ".locks" / repo_folder(name.repo)),
        hub_(options.access, options.retries) {}

  Pulled run() {
    result_.repo = name_.repo;
    result_.revision = name_.revision.empty() ? "main" : name_.revision;
    try {
      fetch_all();
    } catch (const Interrupted&) {
      result_.was_interrupted = true;
    }
    return std::move(result_);
  }

 private:
  void fetch_all() {
    const RepoListing listing = hub_.list(name_.repo, result_.revision);
    result_.commit = listing.commit;
    for (const RepoFile& f : listing.files)
      if (may_execute(f.name)) result_.refused.push_back(f.name);
    RepoChoice choice = choose(name_.repo, listing.files, name_);
    const fs::path snapshot = folder_ / "snapshots" / listing.commit;
    set_place(result_, name_, choice, snapshot);
    make_cache();
    if (!choice.index.empty()) {
      fetch(requests({choice.index}));
      add_shards(choice, snapshot / choice.index, name_.repo, listing.files);
      std::erase(choice.files, choice.index);
    }
    if (choice.files.size() > most_files)
      fail_input("{}: {} files belong to the model; {} are the most", name_.repo, choice.files.size(), most_files);
    fetch(requests(choice.files));
    write_ref(folder_, result_.revision, listing.commit);
  }

  void make_cache() {
    std::error_code error;
    fs::create_directories(folder_ / "blobs", error);
    if (error) fail_machine("{}: cannot be made: {}", (folder_ / "blobs").string(), error.message());
  }

  std::vector<BlobRequest> requests(const std::vector<std::string>& files) {
    std::vector<BlobRequest> list;
    Progress progress("asking about " + name_.repo, std::int64_t(files.size()));
    for (const std::string& file : files) {
      BlobRequest r{name_.repo, result_.commit, file, hub_.facts(name_.repo, result_.commit, file), {}, {}};
      if (!is_weights(file) && r.facts.bytes > most_text_bytes)
        fail_input("{}: {} has {} bytes; {} are the most of a file that holds no weights", name_.repo, quote(file),
                   r.facts.bytes, most_text_bytes);
      r.blob = folder_ / "blobs" / r.facts.hash;
      r.lock = locks_ / (r.facts.hash + ".lock");
      list.push_back(std::move(r));
      progress.advance();
    }
    return list;
  }

  void check_room(std::uint64_t needed) const {
    struct statvfs disk {};
    if (needed == 0 || ::statvfs(folder_.c_str(), &disk) != 0) return;
    const std::uint64_t there = std::uint64_t(disk.f_bavail) * disk.f_frsize;
    if (there < spare_bytes || needed > there - spare_bytes)
      fail_machine(
          "{}: needs {} on the disk of {}, which has {} left; 'ridge models remove' makes room, HF_HUB_CACHE names "
          "another place",
          name_.repo, format_bytes(double(needed)), folder_.parent_path().string(), format_bytes(double(there)));
  }

  void fetch(const std::vector<BlobRequest>& list) {
    std::uint64_t all = 0, needed = 0, done = 0;
    for (const BlobRequest& r : list) {
      if (r.facts.bytes > UINT64_MAX / 2 - all)
        fail_input("{}: {} has {} bytes, which no disk has", name_.repo, quote(r.file), r.facts.bytes);
      all += r.facts.bytes;
      if (!has_blob(r)) needed += r.facts.bytes - begun_bytes(r);
    }
    check_room(needed);
    Progress progress("pulling " + name_.repo, std::int64_t(all), Unit::bytes);
    for (const BlobRequest& r : list) {
      const auto show = [&](std::uint64_t there) { progress.set(std::int64_t(done + there)); };
      const std::uint64_t came = has_blob(r) ? 0 : download_blob(hub_, r, show);
      link_blob(folder_, r.commit, r.file, r.facts.hash);
      result_.files.push_back({r.file, r.facts.hash, r.facts.bytes, came});
      progress.set(std::int64_t(done += r.facts.bytes));
    }
  }

  ModelName name_;
  fs::path folder_, locks_;
  HubClient hub_;
  Pulled result_;
};

// ---- from the cache

Pulled pull_offline(const ModelName& name, const PullOptions& options) {
  const auto repo = cached_repo(options.caches.hub, name.repo);
  const CachedSnapshot* snapshot = repo ? find_snapshot(*repo, name.revision) : nullptr;
  if (!snapshot)
    fail_input("{}: is not in the cache {}, and offline nothing is fetched",
               name.repo + (name.revision.empty() ? "" : "@" + name.revision), options.caches.hub.string());
  const std::vector<RepoFile> files = repo_files(*snapshot);
  RepoChoice choice = choose(name.repo, files, name);
  if (!choice.index.empty()) add_shards(choice, snapshot->folder / choice.index, name.repo, files);
  Pulled p{.repo = name.repo,
           .revision = name.revision.empty() ? "main" : name.revision,
           .commit = snapshot->commit,
           .argument = {},
           .path = {},
           .files = {},
           .refused = {}};
  set_place(p, name, choice, snapshot->folder);
  for (const CachedFile& f : snapshot->files)
    if (std::find(choice.files.begin(), choice.files.end(), f.name) != choice.files.end())
      p.files.push_back({f.name, f.blob.filename().string(), f.bytes, 0});
  return p;
}

}  // namespace

std::uint64_t Pulled::bytes() const {
  std::uint64_t sum = 0;
  for (const PulledFile& f : files) sum += f.bytes;
  return sum;
}

std::uint64_t Pulled::came() const {
  std::uint64_t sum = 0;
  for (const PulledFile& f : files) sum += f.came;
  return sum;
}

Pulled pull(const ModelName& name, const PullOptions& options) {
  if (options.caches.hub.empty()) fail_input("nothing says where the cache is: set HF_HUB_CACHE, HF_HOME or HOME");
  return options.access.offline ? pull_offline(name, options) : Puller(name, options).run();
}

}  // namespace ridge::io
