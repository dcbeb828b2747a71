#include "io/safetensors.h"

#include "io/hostile_files_test.h"
#include "io/safetensors_write.h"

namespace ridge::io {
namespace {

std::string file_of(std::string_view header, std::string_view data) {
  const std::uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + std::string(header) + std::string(data);
}
SafetensorsHeader parse(const std::string& text) { return parse_safetensors(std::as_bytes(std::span(text)), "f"); }
std::string refusal(const std::string& text) {
  return error_of([&] { parse(text); });
}
std::string refusal_of(std::string_view header, std::size_t data = 16) {
  return refusal(file_of(header, std::string(data, 'x')));
}

// One entry of a header: "name":{"dtype":TYPE,"shape":SHAPE,"data_offsets":RANGE}
std::string entry(std::string_view name, std::string_view type, std::string_view shape, std::string_view range) {
  return fmt::format(R"("{}":{{"dtype":"{}","shape":{},"data_offsets":{}}})", name, type, shape, range);
}
std::string refusal_of_one(std::string_view type, std::string_view shape, std::string_view range,
                           std::size_t data = 16) {
  return refusal_of("{" + entry("a", type, shape, range) + "}", data);
}
std::string refusal_of_two(const std::string& a, const std::string& b) { return refusal_of("{" + a + "," + b + "}"); }

constexpr const char* good = R"({"__metadata__":{"format":"pt"},"b":{"dtype":"F32","shape":[2],"data_offsets":[8,16]},)"
                             R"("a":{"dtype":"BF16","shape":[2,2],"data_offsets":[0,8]},)"
                             R"("none":{"dtype":"F32","shape":[0,4],"data_offsets":[8,8]}})";

TEST(safetensors, reads_a_small_file) {
  const SafetensorsHeader h = parse(file_of(good, std::string(16, 'x')));
  ASSERT_EQ(h.tensors.size(), 3u);
  EXPECT_EQ(h.tensors[0].name, "a");  // in the order of their bytes
  EXPECT_EQ(h.tensors[0].dtype, DType::bf16);
  EXPECT_EQ(h.tensors[0].shape, (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(h.tensors[2].name, "b");
  EXPECT_EQ(h.tensors[2].offset, 8 + std::string(good).size() + 8);
  EXPECT_EQ(h.metadata[0].second, "pt");
}

TEST(safetensors, no_spoilt_file_does_harm) {
  Bytes b;
  b.number(std::uint64_t(std::string(good).size()));
  b.text += file_of(good, std::string(16, 'x')).substr(8);
  const int refused = spoil_everything(b, [](std::span<const std::byte> bytes) {
    for (const auto& t : parse_safetensors(bytes, "f").tensors) ASSERT_LE(t.offset + t.bytes, bytes.size());
  });
  EXPECT_GT(refused, int(b.text.size()));
}

TEST(safetensors, every_number_made_wrong) {
  const std::string header = good;
  int tried = 0, refused = 0;
  for (std::size_t begin = 1; begin < header.size(); ++begin) {
    if ((header[begin - 1] != '[' && header[begin - 1] != ',') || !std::isdigit((unsigned char)header[begin])) continue;
    const std::size_t end = header.find_first_not_of("0123456789", begin);
    for (const char* wrong : {"-1", "1e3", "1.5", "18446744073709551615", "9223372036854775807",
                              "99999999999999999999999", "\"8\"", "null", "[]", "{}", "17"}) {
      ++tried;
      try {
        parse(file_of(header.substr(0, begin) + wrong + header.substr(end), std::string(16, 'x')));
      } catch (const Error& e) {
        EXPECT_EQ(e.fault(), Fault::input);
        ++refused;
      }
    }
  }
  EXPECT_EQ(tried, 11 * 11);
  EXPECT_EQ(refused, tried - 2);  // a shape of [0, n] is empty for any n: 17 and 2^63 - 1 are as good as 4
}

TEST(safetensors, traps_of_the_field) {
  EXPECT_HAS(refusal(std::string("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10)),
             "18446744073709551615 bytes; 100000000 is the most");
  EXPECT_HAS(refusal(std::string("\x20\0\0\0\0\0\0\0{}", 10)), "needs 32 bytes, but only 2 are left");
  EXPECT_HAS(refusal("abc"), "the header's length needs 8 bytes");
  EXPECT_HAS(refusal_of("[]"), "does not start with '{'");
  const std::string whole = entry("a", "F32", "[4]", "[0,16]");
  EXPECT_HAS(refusal_of_two(whole, entry("a", "F32", "[0]", "[16,16]")), "has the key 'a' twice");
  EXPECT_HAS(refusal_of_two(whole, entry("b", "F32", "[2]", "[8,16]")), "overlap");
  EXPECT_HAS(refusal_of_two(entry("a", "F32", "[1]", "[0,4]"), entry("b", "F32", "[2]", "[8,16]")), "leave a gap");
  EXPECT_HAS(refusal_of(R"({"a":{"dtype":"F32","dtype":"I32","shape":[4],"data_offsets":[0,16]}})"),
             "has the key 'dtype' twice");
  EXPECT_HAS(refusal_of_one("F32", "[4]", "[0,16]", 20), "belong to none");
  EXPECT_HAS(refusal_of_one("F32", "[4]", "[0,16]", 12), "the data is [0, 12]: the file is cut short");
  EXPECT_HAS(refusal_of_one("F32", "[3]", "[0,16]"), "takes 96 bits, but data_offsets give it 16 bytes");
  EXPECT_HAS(refusal_of_one("F32", "[4294967296,4294967296]", "[0,16]"), "too many elements");
  EXPECT_HAS(refusal_of_one("F32", "[-4]", "[0,16]"), "whole numbers from 0 on");
  EXPECT_HAS(refusal_of_one("F32", "[4]", "[16,0]"), "data_offsets [16, 0]");
  EXPECT_HAS(refusal_of(R"({"a":{"dtype":"F32","shape":[4]}})"), "has no data_offsets");
  EXPECT_HAS(refusal_of(R"({"a":[]})"), "is not an object");
  EXPECT_HAS(refusal_of(R"({"__metadata__":{"k":1}})", 0), "'k' is not a string");
  EXPECT_HAS(refusal_of("{\"a\":" + std::string(50000, '[')), "nested more than 8 deep");
  EXPECT_HAS(refusal_of(R"({"a":)"), "in the header, which starts at byte 8: at byte 5: is not JSON");
}

TEST(safetensors, unknown_types_are_listed) {
  const auto h =
      parse(file_of("{" + entry("a", "F8_E5M2", "[16]", "[0,16]") + "," + entry("b", "Q9", "[3]", "[16,32]") + "}",
                    std::string(32, 'x')));
  EXPECT_EQ(h.tensors[0].type, "F8_E5M2");
  EXPECT_FALSE(h.tensors[0].dtype);
  EXPECT_EQ(h.tensors[1].type, "Q9");
}

void write_shard(const std::filesystem::path& path, const std::string& tensor, float value) {
  const float values[] = {value};
  write_safetensors(path, std::vector<FloatTensor>{{tensor, {1}, values}});
}

TEST(safetensors, shards_by_their_index) {
  TempFolder folder;
  write_shard(folder / "m-1.safetensors", "x", 1), write_shard(folder / "m-2.safetensors", "y", 2);
  const auto index = [&](const std::string& x, const std::string& y) {
    write_bytes(folder / "m.safetensors.index.json",
                R"({"metadata":{},"weight_map":{"x":")" + x + R"(","y":")" + y + R"("}})");
    return open_safetensors(folder / "m.safetensors.index.json");
  };
  const auto parts = index("m-1.safetensors", "m-2.safetensors");
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[1].header.tensors[0].name, "y");
  EXPECT_HAS(error_of([&] { index("m-2.safetensors", "m-2.safetensors"); }),
             "tensor 'x' is in 'm-2.safetensors', but it is in no shard");
  EXPECT_HAS(error_of([&] { index("m-2.safetensors", "m-1.safetensors"); }), "but it is in 'm-1.safetensors'");
  EXPECT_HAS(error_of([&] { index("m-1.safetensors", "m-3.safetensors"); }),
             "m-3.safetensors: is missing; m.safetensors.index.json names it");
  EXPECT_HAS(error_of([&] { index("../m-1.safetensors", "m-2.safetensors"); }), "is not a plain one");
  EXPECT_HAS(error_of([&] { index("/etc/passwd", "m-2.safetensors"); }), "is not a plain one");
  write_shard(folder / "m-2.safetensors", "x", 2);
  EXPECT_HAS(error_of([&] { index("m-1.safetensors", "m-2.safetensors"); }), "tensor 'x' is also in 'm-1.safetensors'");
  write_bytes(folder / "m.safetensors.index.json", R"({"weight_map":{"x":"m-1.safetensors","x":"m-2.safetensors"}})");
  EXPECT_HAS(error_of([&] { open_safetensors(folder / "m.safetensors.index.json"); }), "has the key 'x' twice");
}

TEST(safetensors, links_stay_in_the_folder_or_in_the_hubs_cache) {
  TempFolder home;
  const auto snapshot = home.path() / "models--a--b" / "snapshots" / "0123";
  const auto blobs = home.path() / "models--a--b" / "blobs";
  std::filesystem::create_directories(snapshot), std::filesystem::create_directories(blobs);
  write_shard(blobs / "hash", "x", 1), write_shard(home / "elsewhere", "x", 1);
  write_bytes(snapshot / "m.index.json", R"({"weight_map":{"x":"m.safetensors"}})");
  std::filesystem::create_symlink("../../blobs/hash", snapshot / "m.safetensors");
  EXPECT_EQ(open_safetensors(snapshot / "m.index.json").size(), 1u);
  std::filesystem::remove(snapshot / "m.safetensors");
  std::filesystem::create_symlink(home / "elsewhere", snapshot / "m.safetensors");
  EXPECT_HAS(error_of([&] { open_safetensors(snapshot / "m.index.json"); }),
             "is a symbolic link that leaves its folder");
  std::filesystem::remove(snapshot / "m.safetensors");
  std::filesystem::create_symlink("m.safetensors", snapshot / "m.safetensors");
  EXPECT_HAS(error_of([&] { open_safetensors(snapshot / "m.index.json"); }), "cannot be followed");
}

TEST(safetensors, reads_the_golden_models) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(RIDGE_SOURCE_DIR "/tests/goldens/models")) {
    if (!std::filesystem::exists(entry.path() / "model.safetensors")) continue;  // sharded: model/goldens_test.cpp
    const auto parts = open_safetensors(entry.path() / "model.safetensors");
    EXPECT_GT(parts[0].header.tensors.size(), 5u);
    for (const auto& t : parts[0].header.tensors) EXPECT_TRUE(t.dtype.has_value()) << t.name;
    EXPECT_EQ(open_safetensors(entry.path() / "golden.safetensors")[0].header.tensors.size(), 8u);
    ++files;
  }
  EXPECT_GE(files, 14);
}

}  // namespace
}  // namespace ridge::io
