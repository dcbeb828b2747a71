// Every case of every op: the CPU's kernels, at each instruction set this machine has, against the plain reference;
// and the same bits from one thread as from several.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "base/thread_pool.h"
#include "op/run_case.h"
#include "op/table.h"

namespace ridge::op {
namespace {

// The instruction sets of this machine, and what is left of them as one after the other is forbidden.
std::vector<hw::Isa> levels() {
  std::vector<hw::Isa> list{hw::native_isa()};
  for (std::string_view name : {"vnni", "avx512", "avx_vnni", "avx2"})
    if (const hw::Isa next = hw::without(list.back(), name); !(next == list.back())) list.push_back(next);
  return list;
}

using Outputs = std::vector<std::vector<float>>;

Outputs run(const Case& c, const ir::Target& target, ThreadPool& pool, std::string* kernel = nullptr,
            Place place = Place::apart) {
  CaseRun run(c, target, pool, 1, place);
  run.run();
  if (kernel) *kernel = run.choice().kernel;
  return run.outputs();
}

bool same_bits(const Outputs& a, const Outputs& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const std::vector<float>& x, const std::vector<float>& y) {
                      return std::ranges::equal(std::as_bytes(std::span(x)), std::as_bytes(std::span(y)));
                    });
}

class op_cases : public testing::TestWithParam<std::string> {};

TEST_P(op_cases, cpu_kernels_agree_with_the_reference) {
  ThreadPool one(1), three(3);
  const Row& row = *find(GetParam());
  for (const Case& c : row.cases()) {
    SCOPED_TRACE(c.name);
    const Outputs want = run(c, {.device = ir::Device::ref, .isa = hw::native_isa()}, one);
    std::string previous;
    const bool in_place =
        row.op->in_place && c.name.find("int8") == std::string::npos;  // the output's bytes are the input's
    for (const hw::Isa& isa : levels()) {
      if (c.timed && !isa.avx2 && hw::native_isa().avx2) continue;  // large, and slow without vectors
      std::string kernel;
      const Outputs got = run(c, {.isa = isa, .threads = 3}, three, &kernel);
      if (kernel == previous) continue;
      previous = kernel;
      ASSERT_EQ(want.size(), got.size());
      for (std::size_t i = 0; i < want.size(); ++i)
        EXPECT_LE(relative_error(got[i], want[i]), c.tolerance) << kernel << ", output " << i;
      EXPECT_TRUE(same_bits(got, run(c, {.isa = isa, .threads = 1}, one))) << kernel << ": threads change the bits";
      if (!in_place) continue;
      EXPECT_TRUE(same_bits(got, run(c, {.isa = isa, .threads = 3}, three, nullptr, Place::in_place)))
          << kernel << ": in place";
    }
  }
}

std::vector<std::string> names() {
  std::vector<std::string> list;
  for (const Row& row : table()) list.emplace_back(row.op->name);
  return list;
}
INSTANTIATE_TEST_SUITE_P(all, op_cases, testing::ValuesIn(names()), [](const auto& name) { return name.param; });

}  // namespace
}  // namespace ridge::op
