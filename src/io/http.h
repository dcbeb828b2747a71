// One HTTP request at a time, over libcurl. Redirects are reported, not followed: who follows decides what the next
// host may be told.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ridge::io {

enum class HttpMethod : std::uint8_t { get, head };

struct HttpRequest {
  HttpMethod method = HttpMethod::get;
  std::string url;                   // http or https
  std::vector<std::string> headers;  // "Name: value"
};

struct HttpResponse {
  long status = 0;                                           // 0: no answer came
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string redirect;                                      // where a 3xx points to, as a whole address
  std::int64_t retry_after_s = 0;
  std::optional<std::string> header(std::string_view lower_case_name) const;
};

enum class HttpEnd : std::uint8_t {
  whole,        // the answer came to its end, whatever its status
  dropped,      // cut off, refused or silent for too long: trying again may help
  unreachable,  // no such host, or nobody listens there
  interrupted,  // by the user
  stopped,      // by the sink
  impossible,   // a wrong certificate, a wrong address: trying again does not help
};

struct HttpResult {
  HttpResponse response;
  HttpEnd end = HttpEnd::whole;
  std::string why;  // of an end that is not whole
};

// Takes the body of an answer with status 200 or 206, piece by piece; false stops the transfer. It may throw.
using HttpSink = std::function<bool(const HttpResponse&, std::span<const std::byte>)>;

class HttpClient {
 public:
  explicit HttpClient(std::int64_t stall_s);  // a transfer that stands still so long counts as dropped
  HttpResult send(const HttpRequest& request, const HttpSink& sink);

 private:
  std::shared_ptr<void> handle_;  // keeps connections open
  std::int64_t stall_s_;
};

bool same_origin(const std::string& a, const std::string& b);  // scheme, host and port; false where one is no address
bool is_secure(const std::string& url);                        // https
std::string shown_url(const std::string& url);                 // without the query, which may hold a signature
std::string percent_encoded(std::string_view text, std::string_view also_plain = "");

}  // namespace ridge::io
