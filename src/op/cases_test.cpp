// Every case of every op: the CPU's kernels, at each instruction set this machine has, against the plain reference.
#include <gtest/gtest.h>

#include "base/thread_pool.h"
#include "op/run_case.h"
#include "op/table.h"

namespace ridge::op {

TEST(op_cases, cpu_kernels_agree_with_the_reference) {
  ThreadPool pool(2);
  ir::Target ref{.device = ir::Device::ref, .isa = hw::isa(), .threads = 2};
  ir::Target cpu{.device = ir::Device::cpu, .isa = hw::isa(), .threads = 2};
  for (const Row& row : table())
    for (const Case& c : row.cases()) {
      SCOPED_TRACE(fmt::format("{}: {}", row.op->name, c.name));
      CaseRun expected(c, ref, pool), actual(c, cpu, pool);
      expected.run();
      actual.run();
      const auto want = expected.outputs(), got = actual.outputs();
      ASSERT_EQ(want.size(), got.size());
      for (std::size_t i = 0; i < want.size(); ++i) EXPECT_LE(relative_error(got[i], want[i]), c.tolerance) << actual.choice().kernel;
    }
}

}  // namespace ridge::op
