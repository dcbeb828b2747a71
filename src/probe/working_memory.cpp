#include "probe/working_memory.h"

#include <sys/mman.h>

#include <cstring>

#include "base/error.h"
#include "base/format.h"
#include "base/thread_pool.h"

namespace ridge::probe {
namespace {

constexpr std::size_t huge_page = 2 << 20;

std::uint64_t random_word(std::uint64_t n) {  // SplitMix64 (Steele, Lea, Flood 2014) of a counter
  n += 0x9e3779b97f4a7c15u;
  n = (n ^ (n >> 30)) * 0xbf58476d1ce4e5b9u;
  n = (n ^ (n >> 27)) * 0x94d049bb133111ebu;
  return n ^ (n >> 31);
}

}  // namespace

WorkingMemory::WorkingMemory(std::int64_t bytes) : size_((std::size_t(bytes) + huge_page - 1) / huge_page * huge_page) {
  mapped_size_ = size_ + huge_page;
  mapped_ = mmap(nullptr, mapped_size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped_ == MAP_FAILED)
    fail_machine("measuring ceilings needs {} of memory, which the system does not give", format_bytes(double(size_)));
  const auto address = reinterpret_cast<std::uintptr_t>(mapped_);
  data_ = reinterpret_cast<std::byte*>((address + huge_page - 1) / huge_page * huge_page);
  madvise(data_, size_, MADV_HUGEPAGE);  // a refusal leaves small pages: also an answer
}

WorkingMemory::~WorkingMemory() { munmap(mapped_, mapped_size_); }

void WorkingMemory::fill(ThreadPool& pool) {
  constexpr std::int64_t page = 4096;
  pool.run([&](int share, int shares) {
    const std::int64_t pages = std::int64_t(size_) / page;
    for (std::int64_t at = pages * share / shares * page; at < pages * (share + 1) / shares * page; at += 8) {
      const std::uint64_t word = random_word(std::uint64_t(at)) & 0xbfffffffbfffffffu;  // as floats: below 2, never NaN
      std::memcpy(data_ + at, &word, 8);
    }
  });
}

}  // namespace ridge::probe
