#include "io/safetensors_write.h"

#include "io/hostile_files_test.h"

namespace ridge::io {
namespace {

TEST(safetensors_write, the_bytes_are_those_of_the_format) {
  TempFolder folder;
  SafetensorsWriter writer(folder / "f", {{"a", DType::f32, {2}}, {"b\"", DType::bf16, {1, 1}}}, {{"k", "v"}});
  const float a[2] = {1, 2};
  const std::uint16_t b = 0x3f80;
  writer.append(std::as_bytes(std::span(a)).first(5));
  writer.append(std::as_bytes(std::span(a)).subspan(5));
  writer.append(std::as_bytes(std::span(&b, 1)));
  writer.finish();
  const std::string header = R"({"__metadata__":{"k":"v"},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                             R"("b\"":{"dtype":"BF16","shape":[1,1],"data_offsets":[8,10]}})";
  const std::string bytes = read_bytes(folder / "f");
  const std::size_t padded = (header.size() + 7) / 8 * 8;
  ASSERT_EQ(bytes.size(), 8 + padded + 10);
  EXPECT_EQ(std::uint8_t(bytes[0]) + 256 * std::uint8_t(bytes[1]), int(padded));
  EXPECT_EQ(bytes.substr(8, header.size()), header);
  EXPECT_EQ(bytes.substr(8 + padded), std::string("\0\0\x80\x3f\0\0\0\x40\x80\x3f", 10));
}

TEST(safetensors_write, counts_what_it_is_given) {
  TempFolder folder;
  const float a[2] = {1, 2};
  SafetensorsWriter writer(folder / "f", {{"a", DType::f32, {2}}});
  EXPECT_THROW(writer.finish(), Error);
  writer.append(std::as_bytes(std::span(a)));
  EXPECT_THROW(writer.append(std::as_bytes(std::span(a))), Error);
  EXPECT_FALSE(std::filesystem::exists(folder / "f"));
  writer.finish();
  EXPECT_TRUE(std::filesystem::exists(folder / "f"));
  EXPECT_HAS(error_of([&] { SafetensorsWriter w(folder / "g", {{"a", DType::q8_0, {32}}}); }), "cannot hold Q8_0");
  EXPECT_HAS(error_of([&] { SafetensorsWriter w(folder / "g", {{"a", DType::f32, {1ll << 40, 1ll << 40}}}); }), "2^63");
}

TEST(safetensors_write, devices_are_written_straight) {
  const float a[2] = {1, 2};
  write_safetensors("/dev/null", std::vector<FloatTensor>{{"a", {2}, a}});
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

}  // namespace
}  // namespace ridge::io
