#include "io/mapped_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <fstream>

#include "io/hostile_files_test.h"
#include "io/quote.h"

namespace ridge::io {
namespace {

std::uint64_t resident_kib() {
  std::ifstream in("/proc/self/statm");
  std::uint64_t total = 0, resident = 0;
  in >> total >> resident;
  return resident * std::uint64_t(::sysconf(_SC_PAGESIZE)) / 1024;
}

TEST(mapped_file, subspans_are_checked) {
  TempFolder folder;
  write_bytes(folder / "f", "0123456789");
  const MappedFile file(folder / "f");
  EXPECT_EQ(file.size(), 10u);
  EXPECT_EQ(char(file.subspan(9, 1, "the last byte")[0]), '9');
  EXPECT_EQ(file.subspan(10, 0, "nothing").size(), 0u);
  EXPECT_HAS(error_of([&] { file.subspan(9, 2, "a field"); }),
             "a field needs 2 bytes from offset 9, but the file ends at 10");
  error_of([&] { file.subspan(~std::uint64_t(0), 2, "a sum that wraps"); });
  error_of([&] { file.subspan(2, ~std::uint64_t(0), "a sum that wraps"); });
}

TEST(mapped_file, only_regular_files) {
  TempFolder folder;
  ::mkfifo((folder / "pipe").c_str(), 0600);
  EXPECT_HAS(error_of([&] { MappedFile file(folder / "pipe"); }), "is a pipe");
  EXPECT_HAS(error_of([&] { MappedFile file(folder.path()); }), "is a folder");
  EXPECT_HAS(error_of([&] { MappedFile file("/dev/zero"); }), "is a device");
  EXPECT_HAS(error_of([&] { MappedFile file(folder / "none"); }), "No such file");
}

TEST(mapped_file, an_empty_file_has_no_bytes) {
  TempFolder folder;
  write_bytes(folder / "f", "");
  EXPECT_EQ(MappedFile(folder / "f").bytes().size(), 0u);
}

TEST(mapped_file, a_sparse_terabyte_costs_nothing) {
  TempFolder folder;
  const int descriptor = ::open((folder / "f").c_str(), O_CREAT | O_WRONLY, 0600);
  const bool made = ::ftruncate(descriptor, off_t(1) << 40) == 0;
  ::close(descriptor);
  if (!made) GTEST_SKIP() << "the file system has no sparse files of a terabyte";
  const auto before = resident_kib();
  const MappedFile file(folder / "f");
  EXPECT_EQ(file.bytes()[std::size_t(1) << 39], std::byte(0));
  EXPECT_LT(resident_kib(), before + 10240);
}

TEST(mapped_file, release_gives_the_pages_back) {
  TempFolder folder;
  write_bytes(folder / "f", std::string(32 << 20, 'x'));
  const MappedFile file(folder / "f");
  const auto before = resident_kib();
  std::uint64_t sum = 0;
  for (std::byte b : file.bytes()) sum += std::uint64_t(b);
  const auto full = resident_kib();
  file.release(file.bytes());
  EXPECT_GT(full, before + 30000);
  EXPECT_LT(resident_kib(), before + 2000);
  EXPECT_EQ(sum, std::uint64_t('x') << 25);
  EXPECT_EQ(char(file.bytes()[12345]), 'x');  // still there when touched again
}

TEST(mapped_file, a_file_that_shrinks_is_noticed) {
  TempFolder folder;
  write_bytes(folder / "f", std::string(100, 'x'));
  const MappedFile file(folder / "f");
  file.check_length();
  std::filesystem::resize_file(folder / "f", 50);
  EXPECT_HAS(error_of([&] { file.check_length(); }), "has shrunk from 100 to 50 bytes");
}

TEST(quote, makes_text_of_strangers_printable) {
  EXPECT_EQ(quote("plain"), "'plain'");
  EXPECT_EQ(quote("\x1b[31m\n"), "'\\x1b[31m\\x0a'");
  EXPECT_EQ(quote("h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"), "'h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80'");
  EXPECT_EQ(quote("\xff\xc3"), "'\\xff\\xc3'");
  EXPECT_EQ(quote("\xed\xa0\x80"), "'\\xed\\xa0\\x80'");  // a surrogate
  EXPECT_EQ(quote("\xc2\x9b"), "'\\xc2\\x9b'");           // a control character of two bytes
  EXPECT_EQ(quote(std::string(200, 'a')), "'" + std::string(96, 'a') + "...'");
}

}  // namespace
}  // namespace ridge::io
