// The hub's protocol: what a repository holds, what a file is, and its bytes. Follows redirects to where the hub keeps
// large files, tells the token to nobody but the endpoint, and tries again what was dropped.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/http.h"
#include "io/hub_settings.h"
#include "io/repo_files.h"

namespace ridge::io {

struct RepoListing {
  std::string commit;
  std::vector<RepoFile> files;
};

struct FileFacts {
  std::string hash;  // SHA-256 of a large file, or git's SHA-1 of its blob: the name of the blob in the cache
  std::uint64_t bytes = 0;
  bool is_etag = false;  // the endpoint itself sends the file under this ETag: If-Range works
};

// Thrown when the user interrupts; whatever was fetched stays where it is.
struct Interrupted {};

class HubClient {
 public:
  HubClient(HubAccess access, int retries);

  // All fail (input) on what the hub refuses (no such model, a token is wanted ...) and on answers that make no sense,
  // and (machine) when it cannot be reached.
  RepoListing list(const std::string& repo, const std::string& revision);
  FileFacts facts(const std::string& repo, const std::string& commit, const std::string& file);

  // Asks for the file's bytes from `offset` on. `take` gets the offset at which a piece lies: 0 again where the server
  // begins anew instead of going on. Returns where it ended: before the file's end when the connection was lost.
  using Take = std::function<void(std::uint64_t offset, std::span<const std::byte>)>;
  struct Part {
    bool again = false;  // trying again may help
    std::string why;     // it ended where it did; empty: it came to its end
    std::int64_t wait_s = 0;
  };
  Part fetch(const std::string& repo, const std::string& commit, const std::string& file, const FileFacts& facts,
             std::uint64_t offset, const Take& take);

  // Waits before the next attempt, longer each time. False: no attempt is left.
  bool wait_for_attempt(int failed, const Part& part, const std::string& what);
  const HubAccess& access() const { return access_; }

 private:
  struct Answer {
    HttpResult last;
    std::vector<HttpResponse> hops;  // all, in order; the last one, too
    std::string url;                 // of the last one
  };
  struct Question {
    HttpMethod method = HttpMethod::get;
    std::string url;
    std::vector<std::string> headers;           // for whoever answers
    std::vector<std::string> endpoint_headers;  // for the endpoint alone
    bool stop_at_facts = false;                 // at a redirect that says all about the file
  };
  Answer follow(const Question& question, const HttpSink& sink);
  Answer ask(const Question& question, const std::string& what, std::string* body);  // with attempts
  std::string resolve_url(const std::string& repo, const std::string& commit, const std::string& file) const;
  [[noreturn]] void refuse(const Answer& answer, const std::string& repo, const std::string& what) const;

  HubAccess access_;
  HttpClient http_;
  int retries_;
  bool reached_ = false;  // something answered before: a network is there
};

}  // namespace ridge::io
