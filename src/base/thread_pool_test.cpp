#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "base/error.h"

namespace ridge {
namespace {

TEST(ThreadPool, EveryIndexExactlyOnce) {
  for (int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (std::int64_t count : {0, 1, 2, 7, 64, 1000, 4097}) {
      std::vector<int> hits(count, 0);
      pool.parallel_for(count, [&](std::int64_t i, int worker) {
        ASSERT_GE(worker, 0);
        ASSERT_LT(worker, threads);
        ++hits[i];  // plain: a second visitor at the same time would be a race that TSan sees
      });
      for (int h : hits) ASSERT_EQ(h, 1);
    }
  }
}

TEST(ThreadPool, RangesBeginAtMultiplesOfTheGrain) {
  ThreadPool pool(3);
  std::atomic<std::int64_t> sum{0};
  pool.parallel_ranges(103, 8, [&](std::int64_t begin, std::int64_t end, int) {
    EXPECT_EQ(begin % 8, 0);
    EXPECT_LE(end - begin, 8);
    EXPECT_LE(end, 103);
    for (std::int64_t i = begin; i < end; ++i) sum += i;
  });
  EXPECT_EQ(sum, 103 * 102 / 2);
  std::atomic<std::int64_t> huge{0};  // counts near the end of int64 must not wrap
  pool.parallel_ranges(INT64_MAX, INT64_MAX / 5,
                       [&](std::int64_t begin, std::int64_t end, int) { huge += end - begin; });
  EXPECT_EQ(huge, INT64_MAX);
}

TEST(ThreadPool, EveryShareExactlyOnce) {
  for (int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    for (int round = 0; round < 200; ++round) {
      std::vector<int> hits(threads, 0);
      pool.run([&](int share, int shares) {
        ASSERT_EQ(shares, threads);
        ++hits[share];
      });
      for (int h : hits) ASSERT_EQ(h, 1);
    }
  }
}

TEST(ThreadPool, ManyShortJobsMixedWithSleeps) {
  ThreadPool pool(4);
  std::vector<std::int64_t> scratch(4, 0);
  std::int64_t expected = 0;
  for (int round = 0; round < 2000; ++round) {
    pool.parallel_for(16, [&](std::int64_t i, int worker) { scratch[worker] += i; });
    expected += 16 * 15 / 2;
    if (round % 500 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));  // so that workers go to sleep
  }
  EXPECT_EQ(std::accumulate(scratch.begin(), scratch.end(), std::int64_t(0)), expected);
}

TEST(ThreadPool, ExceptionReachesTheCallerAndThePoolLives) {
  ThreadPool pool(3);
  for (int round = 0; round < 50; ++round) {
    EXPECT_THROW(pool.parallel_for(100,
                                   [](std::int64_t i, int) {
                                     if (i % 10 == 3) throw std::runtime_error("three");
                                   }),
                 std::runtime_error);
    EXPECT_THROW(pool.run([](int share, int) {
      if (share == 2) throw std::logic_error("two");
    }),
                 std::logic_error);
    std::atomic<int> done{0};
    pool.parallel_for(100, [&](std::int64_t, int) { ++done; });
    ASSERT_EQ(done, 100);
  }
}

TEST(ThreadPool, NestedCallsRunInlineOnTheSameWorker) {
  ThreadPool pool(3);
  std::atomic<int> inner{0};
  pool.parallel_for(12, [&](std::int64_t, int outer) {
    pool.parallel_for(5, [&](std::int64_t, int worker) {
      EXPECT_EQ(worker, outer);
      ++inner;
    });
    pool.run([&](int share, int shares) {
      EXPECT_EQ(share, 0);
      EXPECT_EQ(shares, 1);
      ++inner;
    });
  });
  EXPECT_EQ(inner, 12 * 6);
}

TEST(ThreadPool, AnotherPoolInsideABodyIsItsOwn) {
  ThreadPool outer(2), inner(2);
  std::atomic<int> done{0};
  outer.parallel_for(1, [&](std::int64_t, int) {
    inner.parallel_for(50, [&](std::int64_t, int worker) {
      EXPECT_LT(worker, 2);
      ++done;
    });
  });
  EXPECT_EQ(done, 50);
}

TEST(ThreadPool, ALateWorkerIsExcused) {
  // With far more threads than processors most workers come late; short jobs must not wait for them.
  ThreadPool pool(32);
  std::atomic<std::int64_t> sum{0};
  for (int round = 0; round < 200; ++round) pool.parallel_for(4, [&](std::int64_t i, int) { sum += i; });
  EXPECT_EQ(sum, 200 * 6);
}

TEST(ThreadPool, RefusesNonsense) {
  EXPECT_THROW(ThreadPool(0), Error);
  EXPECT_THROW(ThreadPool(-1), Error);
  EXPECT_THROW(ThreadPool(max_threads + 1), Error);
}

TEST(ThreadPool, ASecondCallerIsTold) {
  ThreadPool pool(2);
  std::atomic<bool> inside{false}, leave{false};
  std::thread first([&] {
    pool.run([&](int, int) {
      inside = true;
      while (!leave) std::this_thread::yield();
    });
  });
  while (!inside) std::this_thread::yield();
  EXPECT_THROW(pool.parallel_for(100, [](std::int64_t, int) {}), Error);
  leave = true;
  first.join();
}

}  // namespace
}  // namespace ridge
