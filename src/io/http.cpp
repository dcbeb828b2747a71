#include "io/http.h"

#include <curl/curl.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <exception>

#include "base/error.h"
#include "base/interrupt.h"

namespace ridge::io {
namespace {

constexpr std::size_t most_header_bytes = 256 << 10, most_error_bytes = 1 << 20;
constexpr long connect_timeout_s = 15;

struct Transfer {
  const HttpSink* sink;
  HttpResponse response;
  std::size_t header_bytes = 0, error_bytes = 0;
  bool stopped = false;
  std::exception_ptr thrown;  // by the sink; libcurl is C
};

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

extern "C" std::size_t ridge_on_header(char* data, std::size_t, std::size_t size, void* user) {
  Transfer& t = *static_cast<Transfer*>(user);
  t.header_bytes += size;
  if (t.header_bytes > most_header_bytes) return 0;
  const std::string_view line(data, size);
  if (line.starts_with("HTTP/")) t.response.headers.clear();  // after a "100 Continue", or a proxy's own answer
  const std::size_t colon = line.find(':');
  if (colon == line.npos || line.starts_with("HTTP/")) return size;
  std::string name(line.substr(0, colon));
  for (char& c : name) c = char(std::tolower(static_cast<unsigned char>(c)));
  t.response.headers.emplace_back(std::move(name), trimmed(line.substr(colon + 1)));
  return size;
}

bool has_content(const HttpResponse& r) { return r.status == 200 || r.status == 206; }

struct Body {
  Transfer* transfer;
  CURL* handle;
};

extern "C" std::size_t ridge_on_body(char* data, std::size_t, std::size_t size, void* user) {
  const Body& body = *static_cast<Body*>(user);
  Transfer& t = *body.transfer;
  curl_easy_getinfo(body.handle, CURLINFO_RESPONSE_CODE, &t.response.status);
  if (!has_content(t.response)) return (t.error_bytes += size) <= most_error_bytes ? size : 0;  // an error page
  try {
    if ((*t.sink)(t.response, std::as_bytes(std::span(data, size)))) return size;
    t.stopped = true;
  } catch (...) {
    t.thrown = std::current_exception();
  }
  return size == 0 ? 1 : 0;
}

extern "C" int ridge_on_progress(void*, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return interrupted() ? 1 : 0;
}

HttpEnd end_of(CURLcode code, const Transfer& t) {
  switch (code) {
    case CURLE_OK: return HttpEnd::whole;
    case CURLE_WRITE_ERROR:
      return t.stopped ? HttpEnd::stopped : t.error_bytes > 0 ? HttpEnd::whole : HttpEnd::impossible;
    case CURLE_ABORTED_BY_CALLBACK: return HttpEnd::interrupted;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT: return HttpEnd::unreachable;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_OUT_OF_MEMORY: return HttpEnd::impossible;
    default: return HttpEnd::dropped;
  }
}

template <class Value> void set(CURL* handle, CURLoption option, Value value) {
  if (const CURLcode code = curl_easy_setopt(handle, option, value); code != CURLE_OK)
    fail_bug("libcurl refuses option {}: {}", int(option), curl_easy_strerror(code));
}

const char* own_certificates() {  // where a company's proxy signs anew
  for (const char* name : {"SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE"})
    if (const char* file = std::getenv(name); file && *file) return file;
  return nullptr;
}

std::string part_of(CURLU* url, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, CURLU_DEFAULT_PORT) != CURLUE_OK) return "";
  std::string copy(text);
  curl_free(text);
  return copy;
}

std::string origin(const std::string& url) {  // empty: no address
  const std::unique_ptr<CURLU, void (*)(CURLU*)> parsed(curl_url(), curl_url_cleanup);
  if (!parsed || curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) return "";
  std::string host = part_of(parsed.get(), CURLUPART_HOST);
  for (char& c : host) c = char(std::tolower(static_cast<unsigned char>(c)));
  return part_of(parsed.get(), CURLUPART_SCHEME) + "://" + host + ":" + part_of(parsed.get(), CURLUPART_PORT);
}

}  // namespace

std::optional<std::string> HttpResponse::header(std::string_view name) const {
  for (const auto& [n, value] : headers)
    if (n == name) return value;
  return std::nullopt;
}

HttpClient::HttpClient(std::int64_t stall_s) : stall_s_(stall_s) {
  static const CURLcode global = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (global == CURLE_OK) handle_ = std::shared_ptr<void>(curl_easy_init(), curl_easy_cleanup);
  if (!handle_) fail_machine("libcurl cannot be started");
}

HttpResult HttpClient::send(const HttpRequest& request, const HttpSink& sink) {
  CURL* handle = handle_.get();
  curl_easy_reset(handle);  // connections stay
  Transfer t{.sink = &sink, .response = {}, .thrown = nullptr};
  Body body{&t, handle};
  char message[CURL_ERROR_SIZE] = "";
  std::unique_ptr<curl_slist, void (*)(curl_slist*)> headers(nullptr, curl_slist_free_all);
  for (const std::string& line : request.headers) {
    curl_slist* longer = curl_slist_append(headers.get(), line.c_str());
    if (!longer) fail_machine("out of memory");
    (void)headers.release();
    headers.reset(longer);
  }
  set(handle, CURLOPT_URL, request.url.c_str());
  set(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  set(handle, CURLOPT_NOBODY, request.method == HttpMethod::head ? 1L : 0L);
  set(handle, CURLOPT_HTTPHEADER, headers.get());
  set(handle, CURLOPT_USERAGENT, "ridge/" RIDGE_VERSION);
  set(handle, CURLOPT_FOLLOWLOCATION, 0L);
  set(handle, CURLOPT_NOSIGNAL, 1L);
  set(handle, CURLOPT_CONNECTTIMEOUT, connect_timeout_s);
  set(handle, CURLOPT_LOW_SPEED_LIMIT, 1L);
  set(handle, CURLOPT_LOW_SPEED_TIME, long(stall_s_));
  set(handle, CURLOPT_BUFFERSIZE, 512L << 10);
  set(handle, CURLOPT_HEADERFUNCTION, ridge_on_header);
  set(handle, CURLOPT_HEADERDATA, &t);
  set(handle, CURLOPT_WRITEFUNCTION, ridge_on_body);
  set(handle, CURLOPT_WRITEDATA, &body);
  set(handle, CURLOPT_NOPROGRESS, 0L);
  set(handle, CURLOPT_XFERINFOFUNCTION, ridge_on_progress);
  set(handle, CURLOPT_ERRORBUFFER, message);
  if (const char* file = own_certificates()) set(handle, CURLOPT_CAINFO, file);

  const CURLcode code = curl_easy_perform(handle);
  if (t.thrown) std::rethrow_exception(t.thrown);
  HttpResult result{std::move(t.response), end_of(code, t), ""};
  if (code != CURLE_OK) result.why = message[0] ? message : curl_easy_strerror(code);
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &result.response.status);
  char* redirect = nullptr;
  curl_easy_getinfo(handle, CURLINFO_REDIRECT_URL, &redirect);
  if (redirect) result.response.redirect = redirect;
  curl_off_t wait = 0;
  curl_easy_getinfo(handle, CURLINFO_RETRY_AFTER, &wait);
  result.response.retry_after_s = wait;
  return result;
}

bool same_origin(const std::string& a, const std::string& b) {
  const std::string first = origin(a);
  return !first.empty() && first == origin(b);
}

bool is_secure(const std::string& url) { return origin(url).starts_with("https://"); }

std::string shown_url(const std::string& url) { return url.substr(0, url.find_first_of("?#")); }

std::string percent_encoded(std::string_view text, std::string_view also_plain) {
  std::string out;
  for (char c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) ||
                       std::string_view("-._~").find(c) != std::string_view::npos ||
                       also_plain.find(c) != also_plain.npos;
    if (plain) out += c;
    else out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace ridge::io
