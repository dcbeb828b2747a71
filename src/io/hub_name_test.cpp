#include "io/hub_name.h"

#include <gtest/gtest.h>

namespace ridge::io {
namespace {

TEST(hub_name, repositories_are_named_as_the_hub_has_it) {
  for (const char* name :
       {"gpt2", "org/name", "Qwen/Qwen3-0.6B", "a/b", "_x/y_", "HuggingFaceTB/SmolLM2-135M-Instruct"})
    EXPECT_TRUE(is_repo_name(name)) << name;
  for (const char* name : {"",   "/",    "org/", "/name", "a/b/c", "a--b", "a..b",  "../x", "x/..", ".x",
                           "x.", "-x/y", "x/y-", "x.git", "a b",   "a\nb", "a%2fb", "~/x",  "a:b",  "a@b"})
    EXPECT_FALSE(is_repo_name(name)) << name;
  EXPECT_TRUE(is_repo_name(std::string(96, 'a')));
  EXPECT_FALSE(is_repo_name(std::string(97, 'a')));
}

TEST(hub_name, folders_and_back) {
  EXPECT_EQ(repo_folder("org/some-name"), "models--org--some-name");
  EXPECT_EQ(repo_folder("gpt2"), "models--gpt2");
  EXPECT_EQ(repo_of_folder("models--org--some-name"), "org/some-name");
  EXPECT_EQ(repo_of_folder("models--gpt2"), "gpt2");
  for (const char* folder : {"datasets--org--name", "models--", "models--..--x", "models--a--b--c", ".locks", "blobs"})
    EXPECT_EQ(repo_of_folder(folder), std::nullopt) << folder;
}

TEST(hub_name, what_an_argument_says) {
  const auto all = parse_model_name("org/name@refs/pr/1:sub/model-Q4_K_M.gguf");
  ASSERT_TRUE(all);
  EXPECT_EQ(all->repo, "org/name");
  EXPECT_EQ(all->revision, "refs/pr/1");
  EXPECT_EQ(all->file, "sub/model-Q4_K_M.gguf");
  const auto plain = parse_model_name("name");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->repo + "|" + plain->revision + "|" + plain->file, "name||");
  for (const char* text : {"", ":x", "org/name:", "org/name:../x", "org/name:/x", "org/name@", "org/name@../x",
                           "./model.gguf", "/model.gguf", "a/b/model.gguf", "org/name@-x"})
    EXPECT_FALSE(parse_model_name(text)) << text;
}

TEST(hub_name, hostile_file_names) {
  for (const char* name :
       {"config.json", "a/b/c.gguf", "..x", "x..", ".gitattributes", "ein Name mit Leerzeichen.gguf", "\xC3\xA9.json"})
    EXPECT_TRUE(is_safe_file(name)) << name;
  for (const char* name : {"", "..", ".", "/etc/passwd", "../x", "a/../b", "a/..", "a//b", "a/", "./a", "a\nb",
                           "a\x1b[2J", "a\x7f", "a\\b", "\xff.json", "\xC3"})
    EXPECT_FALSE(is_safe_file(name)) << name;
  EXPECT_FALSE(is_safe_file(std::string_view("a\0b", 3)));
  EXPECT_TRUE(is_safe_file(std::string(240, 'a')));
  EXPECT_FALSE(is_safe_file(std::string(241, 'a')));
  EXPECT_FALSE(is_safe_file(std::string(1100, 'a') + "/b"));
}

TEST(hub_name, commits_and_revisions) {
  EXPECT_TRUE(is_commit("0123456789abcdef0123456789abcdef01234567"));
  for (const char* text :
       {"", "0123456789abcdef0123456789abcdef0123456", "0123456789ABCDEF0123456789ABCDEF01234567", "main"})
    EXPECT_FALSE(is_commit(text)) << text;
  for (const char* text : {"main", "v1.0", "refs/pr/12", "feature/x+y"}) EXPECT_TRUE(is_revision(text)) << text;
  for (const char* text : {"", "/", "a/", "/a", "a//b", "..", "a/../b", "a b", "a\n", "a:b", "a~1", "-f"})
    EXPECT_FALSE(is_revision(text)) << text;
}

}  // namespace
}  // namespace ridge::io
