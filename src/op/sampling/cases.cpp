#include <cstring>
#include <limits>

#include "op/case.h"
#include "op/sampling/sampling.h"

namespace ridge::op {
namespace {

template <class T> std::vector<std::byte> bytes_of(const std::vector<T>& list) {
  std::vector<std::byte> bytes(list.size() * sizeof(T));
  if (!list.empty()) std::memcpy(bytes.data(), list.data(), bytes.size());
  return bytes;
}

// Every row draws with its own seed and position. `spread` is the standard deviation of the logits.
Case drawn(std::string name, std::int64_t rows, std::int64_t vocabulary, float spread, SampleControl control,
           std::vector<SampleAdjust> adjusts = {}) {
  return {fmt::format("{}, {}x{}", name, rows, vocabulary),
          {.rows = rows},
          [=](CaseInputs& in) {
            std::vector<SampleControl> controls(std::size_t(rows), control);
            for (std::int64_t r = 0; r < rows; ++r)
              controls[std::size_t(r)].seed = std::uint64_t(r / 2),
              controls[std::size_t(r)].position = std::uint64_t(100 + r);
            const ir::Value logits = in.activation("logits", {Symbol::rows, vocabulary}, spread);
            sample(in.program, logits,
                   in.bytes("controls", {Symbol::rows, std::int64_t(sizeof(SampleControl))}, bytes_of(controls)),
                   in.bytes("adjusts", {std::int64_t(adjusts.size()), std::int64_t(sizeof(SampleAdjust))},
                            bytes_of(adjusts)));
          },
          0};
}

Case timed(Case c) {
  c.timed = true;
  return c;
}

}  // namespace

std::vector<Case> sampling_cases() {
  const float forbidden = -std::numeric_limits<float>::infinity();
  // Token 3 is wanted, 5 forbidden, 7 and 8 were seen, 8 was generated, too.
  const std::vector<SampleAdjust> adjusts{
      {3, 0, 0, 6.0f}, {5, 0, 0, forbidden}, {7, 0, 1, 0}, {8, 2, 1, 4}, {999, 3, 0, 8}};
  const SampleControl penalties{
      .temperature = 0.8f, .repetition = 1.3f, .frequency = 0.4f, .presence = 0.7f, .adjust_end = 5};
  SampleControl greedy = penalties;
  greedy.temperature = 0;
  std::vector<Case> cases{
      drawn("greedy", 3, 1000, 1, {}),
      drawn("greedy of one", 2, 1, 1, {}),
      drawn("greedy, all equal", 1, 1000, 0, {}),
      drawn("greedy, penalties", 9, 1000, 2, greedy, adjusts),
      drawn("penalties", 50, 1000, 2, penalties, adjusts),
      drawn("plain, sharp", 50, 3001, 4, {.temperature = 1}),
      drawn("plain, flat", 50, 3001, 0.5f, {.temperature = 2}),
      drawn("plain, all equal", 20, 100, 0, {.temperature = 1}),
      drawn("cold", 20, 1000, 3, {.temperature = 1e-3f}),
      drawn("top-k 1", 20, 1000, 3, {.temperature = 1, .top_k = 1}),
      drawn("top-k 40", 50, 5000, 1, {.temperature = 1, .top_k = 40}),
      drawn("top-k 700", 50, 5000, 1, {.temperature = 1.5f, .top_k = 700}),
      drawn("top-k beyond", 20, 100, 1, {.temperature = 1, .top_k = 1000}),
      drawn("top-k, all equal", 20, 100, 0, {.temperature = 1, .top_k = 7}),
      drawn("top-p 0.9", 50, 5000, 1, {.temperature = 1, .top_p = 0.9f}),
      drawn("top-p 0.5, sharp", 50, 5000, 5, {.temperature = 0.7f, .top_p = 0.5f}),
      drawn("top-p 0", 20, 1000, 1, {.temperature = 1, .top_p = 0}),
      drawn("top-p 0.5, all equal", 20, 64, 0, {.temperature = 1, .top_p = 0.5f}),
      drawn("min-p 0.05", 50, 5000, 2, {.temperature = 1, .min_p = 0.05f}),
      drawn("min-p 1e-6", 50, 5000, 2, {.temperature = 1, .min_p = 1e-6f}),
      drawn("min-p 1", 20, 1000, 2, {.temperature = 1, .min_p = 1}),
      drawn("all cuts", 50, 5000, 1, {.temperature = 1.2f, .top_k = 300, .top_p = 0.8f, .min_p = 0.1f}),
      drawn("top-p and min-p", 50, 5000, 2, {.temperature = 1.2f, .top_p = 0.8f, .min_p = 0.02f}),
      timed(drawn("greedy", 1, 49152, 3, {})),
      timed(drawn("greedy", 8, 151936, 3, {})),
      timed(drawn("top-k 40, top-p 0.95", 1, 49152, 3, {.temperature = 0.8f, .top_k = 40, .top_p = 0.95f})),
      timed(drawn("top-p 0.95", 1, 151936, 3, {.temperature = 0.8f, .top_p = 0.95f})),
      timed(drawn("plain, flat", 1, 49152, 1, {.temperature = 1})),
  };
  return cases;
}

}  // namespace ridge::op
