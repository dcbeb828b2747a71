#include "program/executor.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/thread_pool.h"
#include "op/add/add.h"

namespace ridge::program {

TEST(executor, refuses_more_threads_than_its_kernels_have_scratch_for) {
  ir::Program p;
  const ir::Value x = p.input("x", DType::f32, {Symbol::tokens, 8});
  p.mark_output(op::add(p, x, x), "sum");
  const ir::Target target{.device = ir::Device::cpu, .isa = hw::isa(), .threads = 2, .most = {4, 1, 1}};
  ThreadPool fits(2), larger(3);
  EXPECT_NO_THROW(HostExecutor(p, target, fits, {}));
  EXPECT_THROW(HostExecutor(p, target, larger, {}), Error);
}

TEST(executor, refuses_a_step_larger_than_it_was_planned_for) {
  ir::Program p;
  const ir::Value x = p.input("x", DType::f32, {Symbol::tokens, 8}), sum = op::add(p, x, x);
  p.mark_output(sum, "sum");
  ThreadPool pool(1);
  HostExecutor e(p, {.device = ir::Device::ref, .isa = hw::isa(), .threads = 1, .most = {4, 1, 1}}, pool, {});
  EXPECT_THROW(e.bind({5, 1, 1}), Error);
  e.bind({3, 1, 1});
  for (int i = 0; i < 24; ++i) e.input(x).as<float>()[i] = float(i);
  e.run();
  EXPECT_EQ(e.output(sum).rows(), 3);
  for (int i = 0; i < 24; ++i) EXPECT_EQ(e.output(sum).as<float>()[i], float(2 * i));
}

}  // namespace ridge::program
