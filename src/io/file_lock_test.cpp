#include "io/file_lock.h"

#include "io/hostile_files_test.h"

namespace ridge::io {
namespace {

TEST(file_lock, one_at_a_time) {
  TempFolder folder;
  const auto path = folder / "a/b.lock";
  FileLock first, second;
  EXPECT_TRUE(first.try_lock(path));
  EXPECT_FALSE(second.try_lock(path));
  first = FileLock();
  EXPECT_TRUE(second.try_lock(path));
}

TEST(file_lock, a_lock_whose_file_was_removed_is_of_no_use_to_others) {
  TempFolder folder;
  FileLock first, second, third;
  EXPECT_TRUE(first.try_lock(folder / "x"));
  std::filesystem::remove(folder / "x");
  EXPECT_TRUE(second.try_lock(folder / "x"));  // a new file
  EXPECT_FALSE(third.try_lock(folder / "x"));
}

}  // namespace
}  // namespace ridge::io
