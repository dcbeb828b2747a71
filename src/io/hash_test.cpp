#include "io/hash.h"

#include <gtest/gtest.h>

namespace ridge::io {
namespace {

// FIPS 180-4's examples, and git's own names of blobs (git hash-object).
TEST(hash, known_values) {
  const auto hash = [](HashKind kind, std::string_view text) {
    Hasher h(kind);
    for (char c : text) h.add(std::string_view(&c, 1));
    return h.hex();
  };
  EXPECT_EQ(hash(HashKind::sha1, "abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(hash(HashKind::sha256, "abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hash(HashKind::sha256, ""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hash(HashKind::sha1, std::string_view("blob 0\0", 7)), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
  EXPECT_EQ(hash(HashKind::sha1, std::string_view("blob 12\0hello world\n", 20)),
            "3b18e512dba79e4c8300dd08aeb37f8e728b8dad");
}

}  // namespace
}  // namespace ridge::io
