#include "tensor/planes.h"

#include <gtest/gtest.h>

#include <vector>

namespace ridge {
namespace {

TEST(planes, fields_are_all_of_a_block) {
  for (const DTypeInfo& type : all_dtypes()) {
    const PlaneFields fields = plane_fields(type.id);
    int bytes = 0;
    for (int f = 0; f < fields.count; ++f) bytes += fields.bytes[std::size_t(f)];
    const bool weight = type.block_elems > 1 && type.id != DType::q8_act;
    EXPECT_EQ(bytes, weight ? type.block_bytes : 0) << type.name;
  }
}

TEST(planes, every_byte_goes_to_its_field) {
  constexpr std::int64_t count = 37;  // blocks
  std::vector<std::byte> blocks(std::size_t(count * info(DType::q6_k).block_bytes));
  for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i] = std::byte(i * 131 >> 3);
  const Planes planes = planes_of(DType::q6_k, count);
  EXPECT_EQ(planes.offset[1], 128 * count + (256 - 128 * count % 256) % 256);
  std::vector<std::byte> out(std::size_t(planes.bytes));
  split_planes(DType::q6_k, blocks.data(), count, 0, 20, out.data());
  split_planes(DType::q6_k, blocks.data(), count, 20, count, out.data());
  const int field_begin[] = {0, 128, 192, 208}, field_bytes[] = {128, 64, 16, 2};
  for (std::int64_t b = 0; b < count; ++b)
    for (int f = 0; f < 4; ++f)
      for (int i = 0; i < field_bytes[f]; ++i)
        ASSERT_EQ(out[std::size_t(planes.offset[f] + b * field_bytes[f] + i)],
                  blocks[std::size_t(b * 210 + field_begin[f] + i)])
            << b << ", field " << f << ", byte " << i;
}

}  // namespace
}  // namespace ridge
