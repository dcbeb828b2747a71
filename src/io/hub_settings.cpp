#include "io/hub_settings.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/error.h"
#include "io/folder.h"
#include "io/quote.h"

namespace ridge::io {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t most_token_bytes = 4096;

std::string value_of(const Environment& environment, const char* name) {
  const char* value = environment(name);
  return value ? value : "";
}

bool is_true(std::string text) {
  for (char& c : text) c = char(std::toupper(static_cast<unsigned char>(c)));
  return text == "1" || text == "ON" || text == "YES" || text == "TRUE";
}

fs::path expanded(const Environment& environment, const std::string& text) {
  if (text != "~" && !text.starts_with("~/")) return text;
  return fs::path(value_of(environment, "HOME")) / text.substr(std::min<std::size_t>(2, text.size()));
}

// ~/.cache, or what XDG_CACHE_HOME says; empty when neither is there.
fs::path user_cache(const Environment& environment) {
  if (const std::string xdg = value_of(environment, "XDG_CACHE_HOME"); !xdg.empty()) return expanded(environment, xdg);
  const std::string home = value_of(environment, "HOME");
  return home.empty() ? fs::path() : fs::path(home) / ".cache";
}

fs::path hugging_face_home(const Environment& environment) {
  if (const std::string home = value_of(environment, "HF_HOME"); !home.empty()) return expanded(environment, home);
  const fs::path cache = user_cache(environment);
  return cache.empty() ? cache : cache / "huggingface";
}

std::string stripped(std::string text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && is_space(text.back())) text.pop_back();
  while (!text.empty() && is_space(text.front())) text.erase(0, 1);
  return text;
}

// What a header may hold. The message says where the token stands, never what it is.
void check_token(const HubAccess& access) {
  if (!std::all_of(access.token.begin(), access.token.end(), [](char c) { return c > ' ' && c < '\x7f'; }))
    fail_input("{}: the token holds a space, a control character or a letter outside ASCII", access.token_from);
}

void find_token(HubAccess& access, const Environment& environment) {
  const std::string path = value_of(environment, "HF_TOKEN_PATH");
  const fs::path home = hugging_face_home(environment);
  const fs::path file = !path.empty() ? expanded(environment, path) : home.empty() ? home : home / "token";
  access.token_file = file.string();
  if (is_true(value_of(environment, "HF_HUB_DISABLE_IMPLICIT_TOKEN"))) return;
  for (const char* name : {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"}) {
    access.token = stripped(value_of(environment, name));
    access.token_from = name;
    if (!access.token.empty()) return;
  }
  access.token_from = access.token_file;
  std::error_code missing;
  if (!file.empty() && fs::exists(file, missing)) access.token = stripped(read_text_file(file, most_token_bytes));
}

std::string checked_endpoint(std::string endpoint) {
  if (endpoint.empty()) return "https://huggingface.co";
  while (endpoint.ends_with('/')) endpoint.pop_back();
  const bool is_http = endpoint.starts_with("http://") || endpoint.starts_with("https://");
  const bool odd = std::any_of(endpoint.begin(), endpoint.end(), [](char c) { return c <= ' ' || c == '\x7f'; });
  if (!is_http || odd || endpoint.find_first_of("@?#") != endpoint.npos)
    fail_input("HF_ENDPOINT {}: must be http(s)://HOST, with a port and a path where needed", quote(endpoint));
  return endpoint;
}

}  // namespace

CacheFolders cache_folders(const Environment& environment) {
  CacheFolders folders;
  const fs::path cache = user_cache(environment), home = hugging_face_home(environment);
  if (!cache.empty()) folders.ridge = cache / "ridge";
  if (!home.empty()) folders.hub = home / "hub";
  for (const char* name : {"HUGGINGFACE_HUB_CACHE", "HF_HUB_CACHE"})  // the older name first: the newer one wins
    if (const std::string hub = value_of(environment, name); !hub.empty()) folders.hub = expanded(environment, hub);
  return folders;
}

HubAccess hub_access(const Environment& environment) {
  HubAccess access;
  access.endpoint = checked_endpoint(value_of(environment, "HF_ENDPOINT"));
  access.offline = is_true(value_of(environment, "HF_HUB_OFFLINE"));
  const std::string stall = value_of(environment, "HF_HUB_DOWNLOAD_TIMEOUT");
  if (!stall.empty()) {
    const auto [end, error] = std::from_chars(stall.data(), stall.data() + stall.size(), access.stall_s);
    if (error != std::errc() || end != stall.data() + stall.size() || access.stall_s < 1 || access.stall_s > 86400)
      fail_input("HF_HUB_DOWNLOAD_TIMEOUT {}: must be a number of seconds from 1", quote(stall));
  }
  find_token(access, environment);
  check_token(access);
  return access;
}

}  // namespace ridge::io
