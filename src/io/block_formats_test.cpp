// Every block format against values that other implementations made: decoded by gguf-py, encoded by ggml.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "io/safetensors.h"
#include "tensor/dtype.h"
#include "tensor/float16.h"

namespace ridge::io {
namespace {

const std::string blocks = RIDGE_SOURCE_DIR "/tests/goldens/blocks/";

struct Goldens {
  explicit Goldens(const std::string& path) : parts(open_safetensors(path)) {}
  const SafetensorsTensor* find(const std::string& name) const {
    for (const auto& t : parts[0].header.tensors)
      if (t.name == name) return &t;
    return nullptr;
  }
  std::span<const std::byte> bytes(const std::string& name) const {
    const auto* t = find(name);
    return parts[0].file.subspan(t->offset, t->bytes, name);
  }
  std::vector<float> floats(const std::string& name) const {
    const auto raw = bytes(name);
    std::vector<float> out(raw.size() / 4);
    std::memcpy(out.data(), raw.data(), raw.size());
    return out;
  }
  std::vector<SafetensorsPart> parts;
};

TEST(block_formats, decoded_to_the_same_bits) {
  const Goldens goldens(blocks + "blocks.safetensors");
  int formats = 0;
  for (const DTypeInfo& t : all_dtypes()) {
    const std::string type(t.name);
    if (!goldens.find(type + ".raw")) continue;
    const auto raw = goldens.bytes(type + ".raw");
    const std::vector<float> expected = goldens.floats(type + ".f32");
    ASSERT_EQ(raw.size(), std::size_t(row_bytes(t.id, std::int64_t(expected.size())))) << type;
    std::vector<float> values(expected.size(), NAN);
    ASSERT_NE(t.decode, nullptr) << type;
    t.decode(raw.data(), values.data(), std::int64_t(values.size()));
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (std::isnan(expected[i])) ASSERT_TRUE(std::isnan(values[i])) << type << " " << i;
      else
        ASSERT_EQ(std::bit_cast<std::uint32_t>(values[i]), std::bit_cast<std::uint32_t>(expected[i]))
            << type << " " << i;
    }
    ++formats;
  }
  EXPECT_EQ(formats, 14);  // all of the file's
}

TEST(block_formats, encoded_to_the_same_bits_as_ggml) {
  const Goldens goldens(blocks + "encoded.safetensors");
  const std::vector<float> x = goldens.floats("x");
  int formats = 0;
  for (const DTypeInfo& t : all_dtypes()) {
    const std::string type(t.name);
    if (!goldens.find(type)) continue;
    const auto expected = goldens.bytes(type);
    std::vector<std::byte> made(expected.size());
    ASSERT_NE(t.encode, nullptr) << type;
    t.encode(x.data(), made.data(), std::int64_t(x.size()));
    for (std::size_t i = 0; i < made.size(); ++i) {
      ASSERT_EQ(int(made[i]), int(expected[i]))
          << type << " row " << i / (made.size() / 14) << " block " << i / std::size_t(t.block_bytes) << " byte "
          << i % std::size_t(t.block_bytes);
    }
    ++formats;
  }
  EXPECT_EQ(formats, 9);
}

TEST(block_formats, nothing_breaks_an_encoder) {
  std::vector<float> x(256, 0.5f);
  x[3] = NAN, x[7] = INFINITY, x[40] = -INFINITY, x[100] = 3e38f, x[101] = -3e38f, x[200] = 1e-45f;
  for (const DTypeInfo& t : all_dtypes()) {
    if (!t.encode) continue;
    std::vector<std::byte> made(std::size_t(row_bytes(t.id, 256)));
    t.encode(x.data(), made.data(), 256);  // undefined behaviour is what the sanitizers would see here
    std::vector<float> back(256, 0.0f);
    t.decode(made.data(), back.data(), 256);
  }
}

TEST(block_formats, a_last_block_that_is_not_full) {
  for (const DTypeInfo& t : all_dtypes()) {
    if (!t.encode || t.block_elems != 32) continue;
    std::vector<float> x(50), back(51, 77.0f);
    for (int i = 0; i < 50; ++i) x[std::size_t(i)] = float(i % 7) - 3;
    std::vector<std::byte> made(std::size_t(row_bytes(t.id, 50)));
    t.encode(x.data(), made.data(), 50);
    t.decode(made.data(), back.data(), 50);
    for (std::size_t i = 0; i < 50; ++i) EXPECT_NEAR(back[i], x[i], 0.6f) << t.name;
    EXPECT_EQ(back[50], 77.0f) << t.name;
  }
}

TEST(block_formats, bf16_and_half_at_their_edges) {
  EXPECT_EQ(float_to_bf16(std::bit_cast<float>(0x7f800001u)), 0x7fc0);  // a NaN whose bits are all cut off stays NaN
  EXPECT_EQ(float_to_bf16(std::bit_cast<float>(0xff812345u)), 0xffc1);
  EXPECT_EQ(float_to_bf16(std::bit_cast<float>(0x7fffffffu)), 0x7fff);  // and does not round over into the sign
  EXPECT_EQ(float_to_bf16(std::bit_cast<float>(0x3f808000u)), 0x3f80);  // ties to even
  EXPECT_EQ(float_to_bf16(std::bit_cast<float>(0x3f818000u)), 0x3f82);
  EXPECT_EQ(float_to_bf16(3.4e38f), 0x7f80);
  EXPECT_TRUE(std::isnan(bf16_to_float(0x7f81)));
  EXPECT_TRUE(std::isnan(half_to_float(0x7c01)));
  EXPECT_EQ(half_to_float(0xfc00), -INFINITY);
  EXPECT_EQ(float_to_half(65519.0f), 0x7bff);
  EXPECT_EQ(float_to_half(65520.0f), 0x7c00);
  EXPECT_EQ(float_to_half(NAN) & 0x7fff, 0x7e00);
  EXPECT_EQ(float_to_half(std::bit_cast<float>(0x7f800001u)) & 0x7c00, 0x7c00);
  EXPECT_NE(float_to_half(std::bit_cast<float>(0x7f800001u)) & 0x03ff, 0);
  EXPECT_EQ(half_to_float(0x0001), 0x1p-24f);
  EXPECT_EQ(float_to_half(0x1p-25f), 0x0000);  // half of the smallest: tie to even
  EXPECT_EQ(float_to_half(std::nextafter(0x1p-25f, 1.0f)), 0x0001);
}

}  // namespace
}  // namespace ridge::io
