#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/thread_pool.h"
#include "probe/kernels.h"
#include "probe/measure_parts.h"
#include "probe/working_memory.h"

namespace ridge::probe {
namespace {

constexpr std::int64_t page = 4096;
constexpr std::int64_t most_memory = std::int64_t(1) << 30;
constexpr std::int64_t most_bytes_per_thread = 256 << 20;  // one thread reads that in about 20 ms
constexpr std::int64_t assumed_last_level = 32 << 20;      // where the machine does not tell

std::int64_t cache_bytes(const hw::Cpu& cpu, int level, std::int64_t otherwise) {  // of one instance
  for (const hw::Cache& c : cpu.caches)
    if (c.level == level && c.type != "Instruction") return c.bytes;
  return otherwise;
}

// What `threads` threads on different cores have as last-level cache together.
std::int64_t last_level(const hw::Cpu& cpu, int threads) {
  std::int64_t bytes = 0;
  int level = 0;
  for (const hw::Cache& c : cpu.caches)
    if (c.level >= level && c.type != "Instruction")
      level = c.level, bytes = c.bytes * std::min(c.instances, std::max(threads, 1));
  return bytes > 0 ? bytes : assumed_last_level;
}

int areas(hw::Traffic traffic) {
  switch (traffic) {
    case hw::Traffic::read:
    case hw::Traffic::write: return 1;
    case hw::Traffic::copy: return 2;
    case hw::Traffic::triad: return 3;
  }
  fail_bug("traffic {}", int(traffic));
}

// Reads are measured at every size. Writes and copies bound fewer calls: of few points they are measured in a cache and
// in memory.
bool is_measured(hw::Traffic traffic, std::size_t size_index, std::size_t sizes, Points points) {
  if (points == Points::all || traffic == hw::Traffic::read) return true;
  return traffic != hw::Traffic::triad && (size_index + 1 == sizes || size_index + 1 == sizes / 2);
}

// The part of a working set that one thread handles: each area is split among the threads.
Slice slice_of(WorkingMemory& memory, hw::Traffic traffic, std::int64_t area_bytes, int share, int shares) {
  const std::int64_t pages = area_bytes / page;
  const std::int64_t begin = pages * share / shares * page, end = pages * (share + 1) / shares * page;
  std::byte* base = memory.bytes().data() + begin;
  const int count = areas(traffic);
  return {base, base + (count == 3 ? area_bytes : 0), base + (count - 1) * area_bytes, end - begin};
}

hw::Spread measure_one(const Budget& budget, const TrafficKernel& kernel, WorkingMemory& memory, ThreadPool& pool,
                       std::int64_t working_set) {
  const int count = areas(kernel.traffic);
  const std::int64_t area = working_set / count / page * page;
  std::atomic<std::uint64_t> kept{0};  // so that no read can be left out
  return sample_rate(budget, double(area) * count, [&](std::int64_t rounds) {
    pool.run([&](int share, int shares) {
      const Slice slice = slice_of(memory, kernel.traffic, area, share, shares);
      if (slice.bytes == 0) return;
      std::uint64_t seen = 0;
      for (std::int64_t r = 0; r < rounds; ++r) seen ^= kernel.run(slice);
      kept.fetch_xor(seen, std::memory_order_relaxed);
    });
  });
}

}  // namespace

std::int64_t memory_needed(const hw::Cpu& cpu) {
  const std::int64_t wanted = std::min(4 * last_level(cpu, max_threads), most_memory);
  return std::max(std::min(wanted, hw::available_memory_bytes() / 4), std::int64_t(2) << 20);
}

std::vector<std::int64_t> working_sets(const hw::Cpu& cpu, int threads, Points points, std::int64_t most) {
  const std::int64_t first = cache_bytes(cpu, 1, 32 << 10) * threads, second = cache_bytes(cpu, 2, 1 << 20) * threads;
  const std::int64_t last = last_level(cpu, threads);
  most = std::min(most, most_bytes_per_thread * threads);
  std::vector<std::int64_t> sizes = {first * 2 / 3, second * 2 / 3, last / 2, last, last * 2, last * 4};
  if (points == Points::all)
    for (std::int64_t more :
         {first / 3, first * 3 / 2, second / 3, second * 3 / 2, last / 4, last * 3 / 4, last * 3 / 2, last * 3})
      sizes.push_back(more);
  for (std::int64_t& size : sizes) size = std::max(std::min(size, most) / page, std::int64_t(3) * threads) * page;
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  std::erase_if(sizes, [&](std::int64_t size) { return size > most; });
  return sizes;
}

int count_points(int threads, Points points, std::int64_t memory_bytes) {
  const std::size_t sizes = working_sets(hw::cpu(), threads, points, memory_bytes).size();
  std::size_t count = rate_kernels().size();
  for (std::size_t i = 0; i < sizes; ++i)
    for (const TrafficKernel& kernel : traffic_kernels()) count += is_measured(kernel.traffic, i, sizes, points);
  return int(count);
}

// Where a traffic has several kernels, the best one at a size counts: a ceiling is what is reachable.
void measure_bandwidth(hw::Ceilings& out, WorkingMemory& memory, ThreadPool& pool, Points points, const Budget& budget,
                       const std::function<void()>& point_done) {
  const auto sizes = working_sets(hw::cpu(), pool.threads(), points, std::int64_t(memory.bytes().size()));
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    std::map<hw::Traffic, hw::Spread> best;
    for (const TrafficKernel& kernel : traffic_kernels()) {
      if (!is_measured(kernel.traffic, i, sizes.size(), points)) continue;
      const hw::Spread s = measure_one(budget, kernel, memory, pool, sizes[i]);
      if (s.best > best[kernel.traffic].best) best[kernel.traffic] = s;
      point_done();
    }
    for (const auto& [traffic, spread] : best) out.bandwidth.push_back({traffic, pool.threads(), sizes[i], spread});
  }
}

}  // namespace ridge::probe
