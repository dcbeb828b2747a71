#include "base/thread_pool.h"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace ridge {
namespace {

constexpr std::int64_t default_spin_ns = 50'000;  // covers the gaps between the calls of a step
constexpr std::int64_t shortest_spin_ns = 1'000;
constexpr int chunks_per_thread = 8;  // small enough that the last chunk costs little, large enough to be few

struct Place {  // which worker of which pool a thread is while it runs a body
  const ThreadPool* pool = nullptr;
  int worker = 0;
};
thread_local Place place;

struct Inside {
  Inside(const ThreadPool* pool, int worker) : outer(std::exchange(place, {pool, worker})) {}
  ~Inside() { place = outer; }
  Place outer;
};

inline void pause_cpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}

// Spins until `done()` or until about `limit_ns` have passed; whether it came true. The clock is read every 16
// pauses, since reading it costs about as much as one.
template <class Done> bool spin_until(std::int64_t limit_ns, Done done) {
  using clock = std::chrono::steady_clock;
  if (done()) return true;
  const auto end = clock::now() + std::chrono::nanoseconds(limit_ns);
  do {
    for (int i = 0; i < 16; ++i) {
      if (done()) return true;
      pause_cpu();
    }
  } while (clock::now() < end);
  return done();
}

int allowed_cpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return max_threads;  // more processors than a cpu_set_t holds
  return CPU_COUNT(&set);
}

std::int64_t preemptions() {  // how often this thread lost its processor to another one
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

}  // namespace

struct ThreadPool::Job {
  std::int64_t count = 0;
  std::int64_t grain = 1;
  std::int64_t chunks = 0;
  std::optional<RangeBody> ranges;  // one of the two is set
  std::optional<ShareBody> shares;
  std::atomic<bool> failed{false};
  std::exception_ptr error;  // written by whoever set `failed`, read by the caller after all workers are done

  void keep_error() noexcept {
    if (!failed.exchange(true)) error = std::current_exception();
  }
};

// `state` is 2 g while the worker is idle and generation g is over for it, 2 g + 1 while it works on generation g.
// Before generation g is published every worker is at 2 (g - 1). A worker enters by moving 2 (g - 1) to 2 g + 1; the
// caller excuses one that has not entered by moving 2 (g - 1) to 2 g. Only one of the two succeeds, so a job is never
// read after its call returned.
struct alignas(cache_line_bytes) ThreadPool::Worker {
  std::atomic<std::uint32_t> state{0};
  std::atomic<std::uint32_t> share_claimed{0};  // the last generation in which this worker's share was taken
  std::thread thread;
};

ThreadPool::ThreadPool(int threads)
    : longest_spin_ns_(threads <= allowed_cpus() ? default_spin_ns : shortest_spin_ns), spin_ns_(longest_spin_ns_) {
  if (threads < 1 || threads > max_threads) fail_input("threads: {} given, 1 to {} are accepted", threads, max_threads);
  for (int w = 1; w < threads; ++w) workers_.push_back(std::make_unique<Worker>());
  try {
    for (int w = 1; w < threads; ++w) workers_[w - 1]->thread = std::thread([this, w] { worker_main(w); });
  } catch (const std::system_error& e) {
    stop_workers();
    fail_machine("cannot start {} threads: {}; --threads sets a smaller number", threads, e.what());
  }
}

ThreadPool::~ThreadPool() { stop_workers(); }

void ThreadPool::stop_workers() {
  shared_.stop.store(true);
  shared_.generation.fetch_add(1);
  shared_.generation.notify_all();
  for (auto& worker : workers_)
    if (worker->thread.joinable()) worker->thread.join();
}

void ThreadPool::parallel_for(std::int64_t count, IndexBody body) {
  parallel_ranges(count, 0, [&](std::int64_t begin, std::int64_t end, int worker) {
    for (std::int64_t i = begin; i < end; ++i) body(i, worker);
  });
}

void ThreadPool::parallel_ranges(std::int64_t count, std::int64_t grain, RangeBody body) {
  if (count <= 0) return;
  if (grain <= 0) {
    const std::int64_t chunks = std::int64_t(threads()) * chunks_per_thread;
    grain = threads() == 1 ? count : count / chunks + (count % chunks != 0);
  }
  const bool nested = place.pool == this;
  if (nested || threads() == 1 || count <= grain) {
    const int worker = nested ? place.worker : 0;
    for (std::int64_t begin = 0; begin < count;) {
      const std::int64_t end = count - begin > grain ? begin + grain : count;
      body(begin, end, worker);
      begin = end;
    }
    return;
  }
  Job job;
  job.count = count;
  job.grain = grain;
  job.chunks = count / grain + (count % grain != 0);
  job.ranges = body;
  dispatch(job);
}

void ThreadPool::run(ShareBody body) {
  if (place.pool == this || threads() == 1) return body(0, 1);
  Job job;
  job.shares = body;
  dispatch(job);
}

void ThreadPool::dispatch(Job& job) {
  if (in_use_.exchange(true, std::memory_order_acquire)) fail_bug("two threads handed work to one thread pool at once");
  next_.store(0, std::memory_order_relaxed);
  shared_.job = &job;
  shared_.generation.fetch_add(1);  // sequentially consistent: ordered before notify's look at who sleeps
  shared_.generation.notify_all();
  {
    Inside mark(this, 0);
    try {
      work(job, 0);
    } catch (...) {
      job.keep_error();
    }
  }
  wait_for_workers();
  in_use_.store(false, std::memory_order_release);
  if (job.error) std::rethrow_exception(job.error);
}

void ThreadPool::work(const Job& job, int worker) {
  if (job.shares) {
    const std::uint32_t generation = shared_.generation.load(std::memory_order_relaxed);
    const auto take = [&](int w) { return workers_[w - 1]->share_claimed.exchange(generation) != generation; };
    if (worker > 0) {
      if (take(worker)) (*job.shares)(worker, threads());
      return;
    }
    (*job.shares)(0, threads());
    for (int w = 1; w < threads(); ++w)
      if (!job.failed.load(std::memory_order_relaxed) && take(w)) (*job.shares)(w, threads());
    return;
  }
  while (!job.failed.load(std::memory_order_relaxed)) {
    const std::int64_t chunk = next_.fetch_add(1, std::memory_order_relaxed);
    if (chunk >= job.chunks) return;
    const std::int64_t begin = chunk * job.grain;
    (*job.ranges)(begin, job.count - begin > job.grain ? begin + job.grain : job.count, worker);
  }
}

void ThreadPool::wait_for_workers() {
  const std::uint32_t generation = shared_.generation.load(std::memory_order_relaxed);
  for (auto& worker : workers_) {
    std::uint32_t state = 2 * (generation - 1);
    if (worker->state.compare_exchange_strong(state, 2 * generation)) continue;  // it never came
    if (state == 2 * generation) continue;
    const auto done = [&] { return worker->state.load(std::memory_order_acquire) == 2 * generation; };
    while (!spin_until(spin_ns_.load(std::memory_order_relaxed), done)) worker->state.wait(2 * generation + 1);
  }
}

void ThreadPool::worker_main(int index) {
  Worker& me = *workers_[index - 1];
  std::uint32_t seen = 0;
  std::int64_t preempted = preemptions();
  while (true) {
    const auto changed = [&] { return shared_.generation.load(std::memory_order_acquire) != seen; };
    if (!spin_until(spin_ns_.load(std::memory_order_relaxed), changed)) {
      // Spinning on a processor that others want slows everyone down: spin less after having been pushed off it.
      const std::int64_t now = preemptions();
      const std::int64_t spin = spin_ns_.load(std::memory_order_relaxed);
      spin_ns_.store(now > preempted ? std::max(spin / 2, shortest_spin_ns) : std::min(spin * 2, longest_spin_ns_),
                     std::memory_order_relaxed);
      preempted = now;
      shared_.generation.wait(seen);
    }
    seen = shared_.generation.load(std::memory_order_acquire);
    if (shared_.stop.load(std::memory_order_relaxed)) return;
    std::uint32_t before = 2 * (seen - 1);
    if (!me.state.compare_exchange_strong(before, 2 * seen + 1)) continue;  // excused, or already done
    Job& job = *shared_.job;
    {
      Inside mark(this, index);
      try {
        work(job, index);
      } catch (...) {
        job.keep_error();
      }
    }
    me.state.store(2 * seen);
    me.state.notify_all();
  }
}

}  // namespace ridge
