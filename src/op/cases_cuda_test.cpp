// Every case of every op on the GPU against the plain reference, with and without dependent launch, and the same bits
// each time. Where there is no GPU there is nothing to see.
#include <gtest/gtest.h>

#include <cstring>

#include "base/thread_pool.h"
#include "cuda/device.h"
#include "op/run_case.h"
#include "op/run_case_cuda.h"
#include "op/table.h"

namespace ridge::op {
namespace {

using Outputs = std::vector<std::vector<float>>;

bool same_bits(const Outputs& a, const Outputs& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.size() == y.size() && (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0);
  });
}

class cuda_cases : public testing::TestWithParam<std::string> {};

TEST_P(cuda_cases, kernels_agree_with_the_reference) {
  if (cuda::devices().list.empty()) GTEST_SKIP() << cuda::devices().none;
  const cuda::Device device = cuda::select(0);
  ir::Target target{.device = ir::Device::cuda,
                    .gpu = {.arch = device.code_arch, .multiprocessors = device.multiprocessors}};
  ThreadPool one(1);
  for (const Case& c : find(GetParam())->cases()) {
    SCOPED_TRACE(c.name);
    CaseRun reference(c, {.device = ir::Device::ref, .isa = hw::native_isa()}, one);
    reference.run();
    const Outputs want = reference.outputs();
    Outputs first;
    for (const bool dependent : {false, true}) {
      target.gpu.dependent = dependent;
      CudaCaseRun run(c, target);
      run.run();
      const Outputs got = run.outputs();
      ASSERT_EQ(want.size(), got.size());
      const double tolerance = c.tolerance == 0 ? 0 : std::max({c.tolerance, 1e-5, run.choice().rounding});
      for (std::size_t i = 0; i < want.size(); ++i)
        EXPECT_LE(relative_error(got[i], want[i]), tolerance) << run.choice().kernel << ", output " << i;
      if (dependent) {
        EXPECT_TRUE(same_bits(got, first)) << run.choice().kernel << ": dependent launch changes the bits";
      }
      run.run();
      EXPECT_TRUE(same_bits(got, run.outputs())) << run.choice().kernel << ": a second run gives other bits";
      first = got;
    }
  }
}

std::vector<std::string> names() {
  std::vector<std::string> list;
  for (const Row& row : table()) list.emplace_back(row.op->name);
  return list;
}
INSTANTIATE_TEST_SUITE_P(all, cuda_cases, testing::ValuesIn(names()), [](const auto& name) { return name.param; });

}  // namespace
}  // namespace ridge::op
