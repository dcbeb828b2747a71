// Nothing is allocated in a step in which nobody arrives: counted by the operators new of this test binary.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <new>

#include "engine/small_models_test.h"

#if defined(__has_feature)
#define RIDGE_HAS_FEATURE(name) __has_feature(name)  // how clang says it
#else
#define RIDGE_HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || RIDGE_HAS_FEATURE(address_sanitizer) || \
    RIDGE_HAS_FEATURE(thread_sanitizer)
#define RIDGE_SANITIZED  // the sanitizers have operators of their own
#endif

#ifndef RIDGE_SANITIZED

namespace {
std::atomic<long> allocations{0};

void* counted(std::size_t bytes, std::size_t alignment) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  void* p = alignment <= alignof(std::max_align_t)
                ? std::malloc(bytes ? bytes : 1)
                : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (!p) throw std::bad_alloc();
  return p;
}
}  // namespace

void* operator new(std::size_t n) { return counted(n, 1); }
void* operator new[](std::size_t n) { return counted(n, 1); }
void* operator new(std::size_t n, std::align_val_t a) { return counted(n, std::size_t(a)); }
void* operator new[](std::size_t n, std::align_val_t a) { return counted(n, std::size_t(a)); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace ridge::engine {
namespace {

class AllocatingCalls : public program::Observer {
 public:
  explicit AllocatingCalls(program::Executor& executor) : executor_(executor) {}
  void before(std::size_t) override { before_ = allocations.load(); }
  void after(std::size_t index) override {
    if (allocations.load() == before_) return;
    const long more = allocations.load() - before_;
    found[executor_.program().calls()[index].text() + " by " + executor_.choice(index).kernel] += more;
  }
  std::map<std::string, long> found;

 private:
  program::Executor& executor_;
  long before_ = 0;
};

// What is allocated in fifty steps: the rest of the prompts, then generation.
long allocations_of_steps(const std::string& file, model::LoadOptions options, const SamplingParams& sampling) {
  Machine m(model::open(golden("gguf/" + file)), {.context = 96, .sequences = 3, .batch_tokens = 16, .block_tokens = 8},
            options);
  for (std::int32_t i = 0; i < 3; ++i) m.engine.add({std::vector<std::int32_t>(std::size_t(20 + i), i + 1), sampling});
  m.engine.step();
  AllocatingCalls watch(m.model.executor());
  const long before = allocations.load();
  for (int i = 0; i < 50; ++i) m.engine.step(&watch);
  const long count = allocations.load() - before;
  EXPECT_EQ(m.engine.live(), 3u);
  for (const auto& [call, times] : watch.found)
    ADD_FAILURE() << file << ": " << call << " allocated " << times << " times";
  return count;
}

TEST(Allocations, TheCounterCounts) {
  const long before = allocations.load();
  const auto kept = std::make_unique<std::vector<int>>(100);
  EXPECT_EQ(allocations.load() - before, 2) << kept->size();
}

TEST(Allocations, NoneInSteps) {
  const SamplingParams greedy{.ignore_eos = true};
  const SamplingParams everything{.temperature = 0.8f,
                                  .top_k = 40,
                                  .top_p = 0.9f,
                                  .min_p = 0.01f,
                                  .repetition_penalty = 1.1f,
                                  .frequency_penalty = 0.1f,
                                  .presence_penalty = 0.1f,
                                  .logit_bias = {{3, 1}},
                                  .ignore_eos = true};
  for (const SamplingParams& sampling : {greedy, everything}) {
    EXPECT_EQ(allocations_of_steps("llama3.f32.gguf", {}, sampling), 0);
    EXPECT_EQ(allocations_of_steps("llama_256.q4_0.gguf", {}, sampling), 0);
    EXPECT_EQ(allocations_of_steps("llama_256.q4_0.gguf", {.activations = ir::Activations::f32}, sampling), 0);
  }
}

}  // namespace
}  // namespace ridge::engine

#endif
