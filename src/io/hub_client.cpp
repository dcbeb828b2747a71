#include "io/hub_client.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "io/hub_name.h"
#include "io/json_bounded.h"
#include "io/quote.h"

namespace ridge::io {
namespace {

constexpr int most_redirects = 10;
constexpr std::size_t most_listing_bytes = 64 << 20;
constexpr std::size_t most_files = 100'000;
constexpr std::int64_t longest_wait_s = 300;
constexpr double first_wait_s = 0.25, longest_pause_s = 8;

bool is_temporary(long status) { return status == 408 || status == 429 || (status >= 500 && status <= 504); }

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  return error == std::errc() && end == text.data() + text.size() && n <= std::uint64_t(INT64_MAX) ? std::optional(n)
                                                                                                   : std::nullopt;
}

// W/"abc" -> abc
std::string bare_etag(std::string text) {
  if (text.starts_with("W/")) text.erase(0, 2);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  return text;
}

bool is_hash(std::string_view text) {
  return (text.size() == 40 || text.size() == 64) && text.find_first_not_of("0123456789abcdef") == text.npos;
}

void sleep(double seconds) {
  for (double left = seconds; left > 0 && !interrupted(); left -= 0.05)
    std::this_thread::sleep_for(std::chrono::duration<double>(std::min(left, 0.05)));
  if (interrupted()) throw Interrupted{};
}

// "bytes 100-199/200" -> 100 and 200
struct ContentRange {
  std::uint64_t first, total;
};
std::optional<ContentRange> content_range(const HttpResponse& response) {
  const std::string text = response.header("content-range").value_or("");
  const std::size_t dash = text.find('-'), slash = text.find('/');
  if (!text.starts_with("bytes ") || dash == text.npos || slash == text.npos || slash < dash) return std::nullopt;
  const auto first = number_in(std::string_view(text).substr(6, dash - 6)),
             total = number_in(std::string_view(text).substr(slash + 1));
  return first && total ? std::optional(ContentRange{*first, *total}) : std::nullopt;
}

RepoListing parse_listing(std::string_view body, const std::string& url) {
  const nlohmann::ordered_json json =
      parse_json(body, url, {.bytes = most_listing_bytes, .duplicates = DuplicateKeys::keep_last});
  const auto member = [&](const nlohmann::ordered_json& object, const char* key) {
    return object.is_object() && object.contains(key) ? object[key] : nlohmann::ordered_json();
  };
  RepoListing listing;
  const auto sha = member(json, "sha"), siblings = member(json, "siblings");
  if (!sha.is_string() || !is_commit(sha.get<std::string>()))
    fail_input("{}: 'sha' must be a commit of 40 digits", url);
  listing.commit = sha.get<std::string>();
  if (!siblings.is_array() || siblings.size() > most_files)
    fail_input("{}: 'siblings' must be a list of at most {} files", url, most_files);
  std::set<std::string> seen;
  for (const auto& sibling : siblings) {
    const auto name = member(sibling, "rfilename"), size = member(sibling, "size");
    if (!name.is_string()) fail_input("{}: a file of 'siblings' has no 'rfilename'", url);
    if (!is_safe_file(name.get<std::string>()))
      fail_input("{}: the file name {} is not a plain path below the repository; nothing is fetched from it", url,
                 quote(name.get<std::string>()));
    RepoFile file{name.get<std::string>(), std::nullopt};
    if (size.is_number_unsigned()) file.bytes = size.get<std::uint64_t>();
    if (seen.insert(file.name).second) listing.files.push_back(std::move(file));
  }
  return listing;
}

HubClient::Part part_of(const HttpResult& result, bool network_is_there) {
  const long status = result.response.status;
  switch (result.end) {
    case HttpEnd::whole:
      if (!is_temporary(status)) return {false, fmt::format("answers {}", status), 0};
      return {true, fmt::format("answers {}", status), result.response.retry_after_s};
    case HttpEnd::dropped: return {true, result.why, 0};
    case HttpEnd::unreachable: return {network_is_there, result.why, 0};
    default: return {false, result.why, 0};
  }
}

}  // namespace

HubClient::HubClient(HubAccess access, int retries)
    : access_(std::move(access)), http_(access_.stall_s), retries_(retries) {}

std::string HubClient::resolve_url(const std::string& repo, const std::string& commit, const std::string& file) const {
  return access_.endpoint + "/" + repo + "/resolve/" + percent_encoded(commit) + "/" + percent_encoded(file, "/");
}

HubClient::Answer HubClient::follow(const Question& question, const HttpSink& sink) {
  Answer answer;
  answer.url = question.url;
  for (int hop = 0; hop <= most_redirects; ++hop) {
    HttpRequest request{question.method, answer.url, {"Accept-Encoding: identity"}};  // lengths are of the file itself
    request.headers.insert(request.headers.end(), question.headers.begin(), question.headers.end());
    if (same_origin(answer.url, access_.endpoint)) {
      if (!access_.token.empty()) request.headers.push_back("Authorization: Bearer " + access_.token);
      request.headers.insert(request.headers.end(), question.endpoint_headers.begin(), question.endpoint_headers.end());
    }
    answer.last = http_.send(request, sink);
    if (answer.last.end == HttpEnd::interrupted) throw Interrupted{};
    reached_ = reached_ || answer.last.response.status != 0;
    answer.hops.push_back(answer.last.response);
    const HttpResponse& response = answer.last.response;
    if (response.status < 300 || response.status >= 400 || response.redirect.empty()) return answer;
    if (question.stop_at_facts && response.header("x-linked-etag")) return answer;
    if (is_secure(answer.url) && !is_secure(response.redirect))
      fail_input("{}: redirects from https to {}, which is not secure", shown_url(answer.url),
                 quote(shown_url(response.redirect)));
    answer.url = response.redirect;
  }
  fail_input("{}: more than {} redirects", shown_url(question.url), most_redirects);
}

bool HubClient::wait_for_attempt(int failed, const Part& part, const std::string& what) {
  if (!part.again || failed > retries_) return false;
  if (part.wait_s > longest_wait_s) return false;
  const double pause = std::min(longest_pause_s, first_wait_s * double(1 << std::min(failed - 1, 10)));
  const double wait = std::max(pause, double(part.wait_s));
  log_info("{}: {}; trying again{}", what, part.why,
           part.wait_s > 0 ? fmt::format(" in {} s, as asked", part.wait_s) : "");
  sleep(wait);
  return true;
}

HubClient::Answer HubClient::ask(const Question& question, const std::string& what, std::string* body) {
  for (int failed = 1;; ++failed) {
    if (body) body->clear();
    const bool was_reached = reached_;
    const Answer answer = follow(question, [&](const HttpResponse&, std::span<const std::byte> bytes) {
      if (!body) return true;
      if (body->size() + bytes.size() > most_listing_bytes) return false;
      body->append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      return true;
    });
    if (answer.last.end == HttpEnd::stopped)
      fail_input("{}: answers with more than {} bytes", shown_url(answer.url), most_listing_bytes);
    const Part part = part_of(answer.last, was_reached);
    if (answer.last.end == HttpEnd::whole && !part.again) return answer;
    if (wait_for_attempt(failed, part, what)) continue;
    if (answer.last.end == HttpEnd::whole) return answer;
    fail_machine("{}: no answer: {}", shown_url(answer.url), part.why);
  }
}

void HubClient::refuse(const Answer& answer, const std::string& repo, const std::string& what) const {
  const HttpResponse& r = answer.last.response;
  const std::string code = r.header("x-error-code").value_or("");
  const std::string said = r.header("x-error-message") ? " (it says: " + quote(*r.header("x-error-message")) + ")" : "";
  const bool token = !access_.token.empty();
  const std::string how = token ? "the token of " + access_.token_from + " does not do"
                                : "set HF_TOKEN, or write a token to " + access_.token_file;
  if (!same_origin(answer.url, access_.endpoint))
    fail_machine("{}: {} answers {}", what, shown_url(answer.url), r.status);
  if (r.status == 401)
    fail_input("{}: the hub has no such model, or shows it only to who is allowed to see it: {}{}", repo, how, said);
  if (r.status == 403)
    fail_input("{}: access is refused: ask for it at {}/{}; {}{}", repo, access_.endpoint, repo, how, said);
  if (r.status == 404 && code == "RevisionNotFound") fail_input("{}: has no such revision{}", what, said);
  if (r.status == 404) fail_input("{}: the hub has no such {}{}", what, what == repo ? "model" : "file", said);
  if (r.status == 429)
    fail_input("{}: the hub asks to wait{}; too many requests{}", what,
               r.retry_after_s > 0 ? fmt::format(" {} s", r.retry_after_s) : "", said);
  fail_machine("{}: answers {}{}", shown_url(answer.url), r.status, said);
}

RepoListing HubClient::list(const std::string& repo, const std::string& revision) {
  const Question question{
      .url = access_.endpoint + "/api/models/" + repo + "/revision/" + percent_encoded(revision) + "?blobs=true",
      .headers = {},
      .endpoint_headers = {}};
  std::string body;
  const Answer answer = ask(question, repo, &body);
  if (answer.last.response.status != 200) refuse(answer, repo, repo);
  return parse_listing(body, shown_url(question.url));
}

FileFacts HubClient::facts(const std::string& repo, const std::string& commit, const std::string& file) {
  const std::string what = repo + ": " + quote(file);
  const Question question{.method = HttpMethod::head,
                          .url = resolve_url(repo, commit, file),
                          .headers = {},
                          .endpoint_headers = {},
                          .stop_at_facts = true};
  const Answer answer = ask(question, what, nullptr);
  const long status = answer.last.response.status;
  if (status != 200 && (status < 300 || status >= 400)) refuse(answer, repo, what);
  const auto linked = [&](const char* name) {
    std::string value;
    for (const HttpResponse& hop : answer.hops) value = hop.header(name).value_or(value);
    return value;
  };
  FileFacts facts;
  const std::string etag = linked("x-linked-etag");
  facts.is_etag = etag.empty() && same_origin(answer.url, access_.endpoint);
  facts.hash = bare_etag(etag.empty() ? answer.last.response.header("etag").value_or("") : etag);
  if (!is_hash(facts.hash))
    fail_input("{}: the hub gives no hash of it (ETag {}), so that it could not be checked", what, quote(facts.hash));
  const std::string size = linked("x-linked-size");
  const auto bytes = number_in(!size.empty()   ? size
                               : status == 200 ? answer.last.response.header("content-length").value_or("")
                                               : "");
  if (!bytes) fail_input("{}: the hub does not say how large it is", what);
  facts.bytes = *bytes;
  return facts;
}

HubClient::Part HubClient::fetch(const std::string& repo, const std::string& commit, const std::string& file,
                                 const FileFacts& facts, std::uint64_t offset, const Take& take) {
  const std::string what = repo + ": " + quote(file);
  Question question{.url = resolve_url(repo, commit, file), .headers = {}, .endpoint_headers = {}};
  if (offset > 0) question.headers.push_back(fmt::format("Range: bytes={}-", offset));
  if (offset > 0 && facts.is_etag) question.endpoint_headers.push_back(fmt::format("If-Range: \"{}\"", facts.hash));
  std::uint64_t at = 0;
  bool begun = false, wrong_range = false;
  const auto begin = [&](const HttpResponse& r) {
    begun = true;
    at = r.status == 206 ? offset : 0;
    const auto range = content_range(r);
    if (r.status == 206 && (!range || range->first != offset || range->total != facts.bytes)) wrong_range = true;
    const auto length = number_in(r.header("content-length").value_or(""));
    if (!wrong_range && length && at + *length != facts.bytes)
      fail_input("{}: the server sends {} bytes from byte {}, but the hub says that it has {}", what, *length, at,
                 facts.bytes);
  };
  const bool was_reached = reached_;
  const Answer answer = follow(question, [&](const HttpResponse& r, std::span<const std::byte> bytes) {
    if (!begun) begin(r);
    if (wrong_range) return false;
    if (bytes.size() > facts.bytes - at)
      fail_input("{}: the server sends more than the {} bytes that the hub says it has", what, facts.bytes);
    take(at, bytes);
    at += bytes.size();
    return true;
  });
  const long status = answer.last.response.status;
  if (wrong_range || status == 416) {  // a server that does not know how to go on: begin anew, with nothing
    take(0, {});
    return {true, "the server cannot go on where it was", 0};
  }
  if (answer.last.end == HttpEnd::whole && (status == 200 || status == 206)) {
    if (!begun) begin(answer.last.response);
    return at == facts.bytes ? Part{}
                             : Part{true, fmt::format("the connection ended at byte {} of {}", at, facts.bytes), 0};
  }
  Part part = part_of(answer.last, was_reached);
  if (!part.again && answer.last.end == HttpEnd::whole) refuse(answer, repo, what);
  return part;
}

}  // namespace ridge::io
