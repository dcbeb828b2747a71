#include "io/hub_settings.h"

#include <map>

#include "io/hostile_files_test.h"

namespace ridge::io {
namespace {

using Variables = std::map<std::string, std::string>;

Environment environment(Variables variables) {
  return [variables = std::move(variables)](const char* name) {
    const auto at = variables.find(name);
    return at == variables.end() ? nullptr : at->second.c_str();
  };
}

TEST(hub_settings, the_cache_is_where_python_has_it) {
  const auto hub = [](Variables v) { return cache_folders(environment(std::move(v))).hub.string(); };
  EXPECT_EQ(hub({{"HOME", "/h"}}), "/h/.cache/huggingface/hub");
  EXPECT_EQ(hub({{"HOME", "/h"}, {"XDG_CACHE_HOME", "/x"}}), "/x/huggingface/hub");
  EXPECT_EQ(hub({{"HOME", "/h"}, {"XDG_CACHE_HOME", "/x"}, {"HF_HOME", "/f"}}), "/f/hub");
  EXPECT_EQ(hub({{"HOME", "/h"}, {"HF_HOME", "~/hf"}}), "/h/hf/hub");
  EXPECT_EQ(hub({{"HF_HOME", "/f"}, {"HUGGINGFACE_HUB_CACHE", "/old"}}), "/old");
  EXPECT_EQ(hub({{"HF_HOME", "/f"}, {"HUGGINGFACE_HUB_CACHE", "/old"}, {"HF_HUB_CACHE", "/c"}}), "/c");
  EXPECT_EQ(hub({{"HOME", "/h"}, {"HF_HUB_CACHE", ""}}), "/h/.cache/huggingface/hub");
  EXPECT_EQ(hub({}), "");
  EXPECT_EQ(cache_folders(environment({{"HOME", "/h"}})).ridge, "/h/.cache/ridge");
  EXPECT_EQ(cache_folders(environment({{"HOME", "/h"}, {"XDG_CACHE_HOME", "/x"}})).ridge, "/x/ridge");
}

TEST(hub_settings, the_token_is_where_python_has_it) {
  TempFolder folder;
  const std::string home = folder.path().string();
  std::filesystem::create_directories(folder.path() / ".cache/huggingface");
  const auto token = [](Variables v) {
    const HubAccess a = hub_access(environment(std::move(v)));
    return a.token + (a.token.empty() ? "" : " from " + a.token_from);
  };
  EXPECT_EQ(token({{"HOME", home}}), "");
  write_bytes(folder.path() / ".cache/huggingface/token", "hf_file\n");
  EXPECT_EQ(token({{"HOME", home}}), "hf_file from " + home + "/.cache/huggingface/token");
  write_bytes(folder / "token", " hf_home \r\n");
  EXPECT_EQ(token({{"HOME", home}, {"HF_HOME", home}}), "hf_home from " + home + "/token");
  write_bytes(folder / "other", "hf_path");
  EXPECT_EQ(token({{"HF_HOME", home}, {"HF_TOKEN_PATH", home + "/other"}}), "hf_path from " + home + "/other");
  EXPECT_EQ(token({{"HF_HOME", home}, {"HUGGING_FACE_HUB_TOKEN", "hf_old"}}), "hf_old from HUGGING_FACE_HUB_TOKEN");
  EXPECT_EQ(token({{"HF_HOME", home}, {"HUGGING_FACE_HUB_TOKEN", "hf_old"}, {"HF_TOKEN", "hf_new"}}),
            "hf_new from HF_TOKEN");
  EXPECT_EQ(token({{"HF_HOME", home}, {"HF_TOKEN", "hf_new"}, {"HF_HUB_DISABLE_IMPLICIT_TOKEN", "1"}}), "");
}

TEST(hub_settings, a_token_that_would_break_a_header_is_refused_and_not_shown) {
  const std::string message = error_of([] { hub_access(environment({{"HF_TOKEN", "hf_secret\nX-Evil: 1"}})); });
  EXPECT_HAS(message, "HF_TOKEN: the token holds");
  EXPECT_EQ(message.find("secret"), std::string::npos);
}

TEST(hub_settings, endpoints_and_offline) {
  const auto access = [](Variables v) { return hub_access(environment(std::move(v))); };
  EXPECT_EQ(access({}).endpoint, "https://huggingface.co");
  EXPECT_EQ(access({{"HF_ENDPOINT", "http://127.0.0.1:8080/hub//"}}).endpoint, "http://127.0.0.1:8080/hub");
  for (const char* bad : {"huggingface.co", "ftp://x", "file:///etc", "http://user:secret@host", "http://a b"})
    EXPECT_HAS(error_of([&] { access({{"HF_ENDPOINT", bad}}); }), "must be http(s)://HOST");
  EXPECT_FALSE(access({}).offline);
  for (const char* yes : {"1", "on", "True", "YES"}) EXPECT_TRUE(access({{"HF_HUB_OFFLINE", yes}}).offline);
  EXPECT_FALSE(access({{"HF_HUB_OFFLINE", "0"}}).offline);
  EXPECT_EQ(access({{"HF_HUB_DOWNLOAD_TIMEOUT", "7"}}).stall_s, 7);
  EXPECT_HAS(error_of([&] { access({{"HF_HUB_DOWNLOAD_TIMEOUT", "soon"}}); }), "must be a number of seconds");
}

}  // namespace
}  // namespace ridge::io
