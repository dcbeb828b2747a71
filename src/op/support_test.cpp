#include "op/support.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ridge::op {
namespace {

const SupportRow* find(const std::vector<SupportRow>& rows, std::string_view op, std::string_view types) {
  const auto it =
      std::find_if(rows.begin(), rows.end(), [&](const SupportRow& r) { return r.op == op && r.types == types; });
  return it == rows.end() ? nullptr : &*it;
}

TEST(support, names_each_combination_once_and_its_kernels) {
  const ir::Target ref{.device = ir::Device::ref}, cpu{.isa = hw::without(hw::native_isa(), "avx2")};
  const std::vector<SupportRow> rows = support({ref, cpu});
  const SupportRow* half = find(rows, "attention", "F32 x F16 -> F32");
  ASSERT_TRUE(half);
  ASSERT_EQ(half->kernels.size(), 2u);
  EXPECT_EQ(half->kernels[0], std::make_pair(ir::Device::ref, std::string("attention/ref")));
  EXPECT_EQ(half->kernels[1], std::make_pair(ir::Device::cpu, std::string("attention/baseline")));
  EXPECT_TRUE(find(rows, "rms_norm", "F32 -> Q8_ACT"));
  EXPECT_TRUE(find(rows, "linear", "F32 x Q4_1 -> F32"));
  EXPECT_FALSE(find(rows, "attention", "F32 x Q4_1 -> F32"));
  for (const SupportRow& r : rows)
    EXPECT_EQ(1, std::count_if(rows.begin(), rows.end(),
                               [&](const SupportRow& o) { return o.op == r.op && o.types == r.types; }));
}

}  // namespace
}  // namespace ridge::op
