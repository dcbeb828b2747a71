#include "io/http.h"

#include <gtest/gtest.h>

namespace ridge::io {
namespace {

TEST(http, one_origin_or_another) {
  EXPECT_TRUE(same_origin("https://hub.example/a", "https://HUB.example:443/b?c"));
  EXPECT_TRUE(same_origin("http://127.0.0.1:80", "http://127.0.0.1/x"));
  for (const char* other :
       {"http://hub.example/", "https://hub.example:8443/", "https://hub.example.evil/", "https://evil/hub.example",
        "https://hub.example@evil/", "https://sub.hub.example/", "hub.example", ""})
    EXPECT_FALSE(same_origin("https://hub.example/", other)) << other;
  EXPECT_FALSE(same_origin("", ""));
  EXPECT_TRUE(is_secure("https://x/"));
  EXPECT_FALSE(is_secure("http://x/https://"));
}

TEST(http, addresses) {
  EXPECT_EQ(percent_encoded("refs/pr/1"), "refs%2Fpr%2F1");
  EXPECT_EQ(percent_encoded("a b/c#?%\xC3\xA9~-._", "/"), "a%20b/c%23%3F%25%C3%A9~-._");
  EXPECT_EQ(shown_url("https://x/y?Signature=secret#z"), "https://x/y");
}

}  // namespace
}  // namespace ridge::io
