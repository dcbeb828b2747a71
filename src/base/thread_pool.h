// Threads that share one piece of work at a time. The calling thread is worker 0; the others spin briefly between
// pieces, then sleep. A piece of work costs no allocation.
//
// Who does which part is not fixed: a worker that the system has not woken yet is excused, and its part is done by
// those who are there. So a body's results may depend neither on the worker nor on the number of workers.
//
// Contract:
//  * One thread at a time may hand work to a pool (a second one is a bug and is told so).
//  * A call from inside a body runs inline on that worker: nothing deadlocks, nothing is handed out.
//  * The first exception thrown by a body is rethrown on the caller; parts not begun by then are dropped.
//  * All writes of a body happen before the call returns.
#pragma once
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <thread>
#include <vector>

#include "base/function_ref.h"

namespace ridge {

inline constexpr int max_threads = 1024;
inline constexpr std::size_t cache_line_bytes = 64;

class ThreadPool {
 public:
  using IndexBody = FunctionRef<void(std::int64_t index, int worker)>;
  using RangeBody = FunctionRef<void(std::int64_t begin, std::int64_t end, int worker)>;
  using ShareBody = FunctionRef<void(int share, int shares)>;

  // threads in 1..max_threads, the caller included. What a machine should get: hw::default_threads().
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return int(workers_.size()) + 1; }

  // body(index, worker) once for every index in [0, count), in any order. `worker` in [0, threads()) names the thread:
  // two calls with the same worker never run at once, so per-worker scratch is safe.
  void parallel_for(std::int64_t count, IndexBody body);

  // The same in ranges: each begins at a multiple of `grain` and is at most `grain` long; grain 0 chooses one.
  void parallel_ranges(std::int64_t count, std::int64_t grain, RangeBody body);

  // body(share, shares) once for every share in [0, threads()): each worker takes its own, the caller also those of
  // workers that did not come. Two calls with the same share never run at once. Inside a body: body(0, 1).
  void run(ShareBody body);

 private:
  struct Job;
  struct Worker;

  void dispatch(Job& job);
  void work(const Job& job, int worker);
  void wait_for_workers();
  void worker_main(int worker);
  void stop_workers();

  struct alignas(cache_line_bytes) Shared {  // written by the caller once a job
    std::atomic<std::uint32_t> generation{0};
    std::atomic<bool> stop{false};
    Job* job = nullptr;
  };
  Shared shared_;
  alignas(cache_line_bytes) std::atomic<std::int64_t> next_{0};  // the first chunk that nobody took yet
  alignas(cache_line_bytes) std::atomic<bool> in_use_{false};
  const std::int64_t longest_spin_ns_;
  std::atomic<std::int64_t> spin_ns_;             // how long a worker spins now: less where others want the processors
  std::vector<std::unique_ptr<Worker>> workers_;  // worker w is workers_[w - 1]
};

}  // namespace ridge
