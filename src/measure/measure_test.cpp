#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <memory>

#include "base/error.h"
#include "hw/cpu.h"
#include "measure/machine_state.h"
#include "measure/memory.h"
#include "measure/protocol.h"
#include "measure/statistics.h"

namespace ridge::measure {
namespace {

TEST(Statistics, KnownValues) {
  const std::vector<double> v = {5, 1, 4, 2, 3, 6, 7, 8, 9, 10, 11};
  const Statistics s = statistics(v);
  EXPECT_EQ(s.samples, 11);
  EXPECT_EQ(s.median, 6);
  EXPECT_EQ(s.p10, 2);
  EXPECT_EQ(s.p90, 10);
  EXPECT_EQ(s.least, 1);
  EXPECT_EQ(s.most, 11);
  EXPECT_EQ(s.mean, 6);
  EXPECT_EQ(s.mad, 3);  // distances 5 4 3 2 1 0 1 2 3 4 5
  EXPECT_DOUBLE_EQ(s.spread(), 8.0 / 6.0);
  EXPECT_EQ(statistics(std::vector<double>{1, 2}).median, 1.5);
  EXPECT_EQ(statistics(std::vector<double>{7}).p90, 7);
  EXPECT_THROW(statistics({}), Error);
  EXPECT_THROW(statistics(std::vector<double>{std::numeric_limits<double>::quiet_NaN()}), Error);
}

TEST(Load, OthersAreCountedOnAllowedProcessorsOnly) {
  const std::string path = testing::TempDir() + "ridge_stat";
  const auto mark = [&](const char* text, double own, double wall) {
    std::ofstream(path) << text;
    LoadMark m = load_mark(path, std::vector<int>{0, 1});
    m.own_s = own, m.wall_s = wall;
    return m;
  };
  const LoadMark begin =
      mark("cpu  9 9 9 9\ncpu0 100 0 0 50 5 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0\ncpu2 7 7 7 7\nintr 1\n", 0, 0);
  EXPECT_EQ(begin.cpus, 2);
  const LoadMark end =
      mark("cpu  9 9 9 9\ncpu0 200 10 20 90 9 5 5 10 9 9\ncpu1 50 0 0 0 0 0 0 0\ncpu2 99 9 9 9\nintr 1\n", 1, 2);
  EXPECT_DOUBLE_EQ(end.busy_s - begin.busy_s,
                   2.0);  // 150 ticks on cpu0 and 50 on cpu1; idle, iowait, guest are not busy
  EXPECT_DOUBLE_EQ(*taken_by_others(begin, end), 0.25);  // 2 s busy, 1 s our own, of 2 processors × 2 s
  EXPECT_FALSE(taken_by_others(LoadMark{}, LoadMark{}));
}

TEST(Load, ThisMachine) {
  const LoadMark mark = load_mark();
  EXPECT_EQ(mark.cpus, int(hw::cpu().allowed.size()));
  EXPECT_GT(mark.busy_s, 0);
}

TEST(Clock, IsAClockOfAProcessor) {
  EXPECT_GT(clock_hertz(), 0.2e9);
  EXPECT_LT(clock_hertz(), 8e9);
}

TEST(Memory, PeakFollowsWhatIsTouched) {
  const auto before = peak_memory_bytes();
  ASSERT_TRUE(before);
  constexpr std::size_t size = 64 << 20;
  {
    const std::unique_ptr<char[]> block(new char[size]);
    volatile char* touch = block.get();
    for (std::size_t i = 0; i < size; i += 4096) touch[i] = 1;
    EXPECT_GE(*resident_memory_bytes(), std::int64_t(size));
  }
  EXPECT_GE(*peak_memory_bytes(), std::int64_t(size));
  EXPECT_GE(*peak_memory_bytes(), *before);
}

TEST(Protocol, RotatesInputsAndCountsRuns) {
  std::vector<int> seen(5, 0);
  int runs = 0;
  Case c{"rotate", [&](int input) { ++seen[input], ++runs; }, 5, 64, Heat::warm};
  const Result r = run(c, {.samples = 30, .warm_up_s = 0, .least_sample_s = 5e-3});
  EXPECT_EQ(r.seconds.samples, 30);
  EXPECT_EQ(r.runs, std::int64_t(30) * r.runs_per_sample);
  EXPECT_GE(r.runs_per_sample, 2);  // the body takes nanoseconds
  EXPECT_FALSE(r.flushed);
  for (int n : seen) EXPECT_NEAR(n, runs / 5.0, 1);
}

TEST(Protocol, ColdInputsThatFitTheCacheAreFlushed) {
  const Result r = run({"cold", [](int) {}, 1, 1 << 20, Heat::cold}, {.samples = 3, .warm_up_s = 0});
  EXPECT_TRUE(r.flushed);
  EXPECT_EQ(r.runs_per_sample, 1);
  const int n = inputs_needed(1 << 20, Heat::cold);
  EXPECT_GE(std::int64_t(n) << 20, 3 * hw::cpu().last_level_cache_bytes());
  EXPECT_EQ(inputs_needed(std::int64_t(1) << 40, Heat::cold), 1);
}

TEST(Protocol, TheTimeBoundEndsSlowCases) {
  const Case slow{"slow",
                  [](int) {
                    for (int i = 0; i < 10; ++i) clock_hertz();
                  },
                  1, 64, Heat::warm};
  const Result r = run(slow, {.samples = 1000, .warm_up_s = 0, .time_bound_s = 0.005});
  EXPECT_GE(r.seconds.samples, 3);
  EXPECT_LT(r.seconds.samples, 1000);
}

TEST(Protocol, AlternatesCases) {
  std::string order;
  const std::vector<Case> cases = {{"a", [&](int) { order += 'a'; }, 1, 64, Heat::warm},
                                   {"b", [&](int) { order += 'b'; }, 1, 64, Heat::warm}};
  const auto results = run_alternating(cases, {.samples = 4, .warm_up_s = 0, .least_sample_s = 0});
  EXPECT_EQ(order, "ababababab");  // one warm-up each, then sample by sample
  EXPECT_EQ(results[1].name, "b");
}

}  // namespace
}  // namespace ridge::measure
