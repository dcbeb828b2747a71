// What is drawn, against probabilities worked out by hand; and rows that cannot be drawn from.
#include "op/sampling/sampling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/thread_pool.h"
#include "op/sampling/kernels.h"

namespace ridge::op {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

View view(const void* data, DType type, std::int64_t rows, std::int64_t columns, int rank = 2) {
  View v{.data = static_cast<std::byte*>(const_cast<void*>(data)), .dtype = type, .rank = rank};
  v.dims[0] = rows, v.dims[1] = columns;
  return v;
}

// One token for each control, all from the same logits.
std::vector<std::int32_t> draw(const std::vector<float>& row, const std::vector<SampleControl>& controls,
                               ir::CpuKernel kernel, const std::vector<SampleAdjust>& adjusts = {}) {
  std::vector<float> logits;
  for (std::size_t i = 0; i < controls.size(); ++i) logits.insert(logits.end(), row.begin(), row.end());
  std::vector<std::int32_t> tokens(controls.size(), -7);
  const std::int64_t n = std::int64_t(controls.size());
  const View in[] = {view(logits.data(), DType::f32, n, std::int64_t(row.size())),
                     view(controls.data(), DType::u8, n, sizeof(SampleControl)),
                     view(adjusts.data(), DType::u8, std::int64_t(adjusts.size()), sizeof(SampleAdjust))};
  const View out = view(tokens.data(), DType::i32, n, 0, 1);
  ThreadPool pool(2);
  std::vector<std::byte> scratch(std::size_t(1) << 20);
  std::byte* const aligned = scratch.data() + (64 - reinterpret_cast<std::uintptr_t>(scratch.data()) % 64) % 64;
  const ir::Params params;
  kernel(ir::Bound{in, {&out, 1}, params, pool, {aligned, scratch.size() - 64}});
  return tokens;
}

class sampling : public testing::TestWithParam<bool> {
 protected:
  ir::CpuKernel kernel() const { return GetParam() ? sampling_cpu(simd_level(hw::native_isa())) : sampling_ref; }

  // Draws many times and compares how often each token came with its probability: within five standard deviations.
  void expect_probabilities(const std::vector<float>& logits, SampleControl control, const std::vector<double>& want,
                            const std::vector<SampleAdjust>& adjusts = {}) {
    const int draws = 20000;
    std::vector<SampleControl> controls(draws, control);
    for (int i = 0; i < draws; ++i)
      controls[std::size_t(i)].seed = 42, controls[std::size_t(i)].position = std::uint64_t(i);
    std::vector<int> count(logits.size());
    for (std::int32_t token : draw(logits, controls, kernel(), adjusts)) ++count.at(std::size_t(token));
    for (std::size_t i = 0; i < logits.size(); ++i)
      EXPECT_NEAR(count[i] / double(draws), want[i], 5 * std::sqrt(want[i] * (1 - want[i]) / draws)) << "token " << i;
  }
};

const float ln2 = std::log(2.0f);

TEST_P(sampling, follows_the_probabilities) {  // 8 : 4 : 2 : 1 : 1
  expect_probabilities({0, 2 * ln2, 3 * ln2, ln2, 0}, {.temperature = 1},
                       {1 / 16.0, 4 / 16.0, 8 / 16.0, 2 / 16.0, 1 / 16.0});
  expect_probabilities({0, ln2, 1.5f * ln2, 0.5f * ln2, 0}, {.temperature = 0.5f},
                       {1 / 16.0, 4 / 16.0, 8 / 16.0, 2 / 16.0, 1 / 16.0});
}

TEST_P(sampling, cuts_in_order) {
  const std::vector<float> logits{0, 2 * ln2, 3 * ln2, ln2, 0};
  expect_probabilities(logits, {.temperature = 1, .top_k = 2}, {0, 1 / 3.0, 2 / 3.0, 0, 0});
  expect_probabilities(logits, {.temperature = 1, .top_k = 4},
                       {1 / 15.0, 4 / 15.0, 8 / 15.0, 2 / 15.0, 0});  // ties: the lower id
  expect_probabilities(logits, {.temperature = 1, .top_p = 0.45f}, {0, 0, 1, 0, 0});
  expect_probabilities(logits, {.temperature = 1, .top_p = 0.55f}, {0, 1 / 3.0, 2 / 3.0, 0, 0});
  expect_probabilities(logits, {.temperature = 1, .min_p = 0.24f}, {0, 4 / 14.0, 8 / 14.0, 2 / 14.0, 0});
  // top-p is of what top-k left: 8/12 < 0.7, so two stay; of all it would be three.
  expect_probabilities(logits, {.temperature = 1, .top_k = 2, .top_p = 0.7f}, {0, 1 / 3.0, 2 / 3.0, 0, 0});
  expect_probabilities(logits, {.temperature = 1, .top_k = 2, .top_p = 0.6f}, {0, 0, 1, 0, 0});
  // The temperature comes first: at 2 the weights are 2.83 : 2 : 1.41 : 1 : 1, and 0.55 needs two, at 1 two; 0.3 one.
  const double w[] = {1, 2, std::sqrt(8.0), std::sqrt(2.0), 1};
  expect_probabilities(logits, {.temperature = 2, .top_p = 0.7f},
                       {0, w[1] / (w[1] + w[2] + w[3]), w[2] / (w[1] + w[2] + w[3]), w[3] / (w[1] + w[2] + w[3]), 0});
  expect_probabilities(logits, {.temperature = 2, .min_p = 0.6f},
                       {0, w[1] / (w[1] + w[2]), w[2] / (w[1] + w[2]), 0, 0});
}

TEST_P(sampling, penalizes) {
  SampleControl c{.temperature = 1, .repetition = 2, .frequency = 0.5f * ln2, .presence = ln2, .adjust_end = 4};
  const std::vector<SampleAdjust> adjusts{{0, 0, 1, 0},  // seen, positive: 4 ln 2 -> 2 ln 2
                                          {1, 0, 1, 0},  // seen, negative: -ln 2 -> -2 ln 2
                                          {2, 2, 0, 0},  // generated twice: 3 ln 2 - 2 * 0.5 ln 2 - ln 2 = ln 2
                                          {3, 0, 0, -infinity}};  // forbidden
  const double total = 4 + 0.25 + 2 + 1;
  expect_probabilities({4 * ln2, -ln2, 3 * ln2, 90, 0}, c, {4 / total, 0.25 / total, 2 / total, 0, 1 / total}, adjusts);
}

TEST_P(sampling, greedy_takes_the_largest_and_the_lowest_id) {
  std::vector<float> logits(100, 1.0f);
  EXPECT_EQ(draw(logits, {{}}, kernel())[0], 0);
  logits[71] = logits[99] = 2;
  EXPECT_EQ(draw(logits, {{}}, kernel())[0], 71);
  logits[99] = 3;
  EXPECT_EQ(draw(logits, {{}}, kernel())[0], 99);
  EXPECT_EQ(draw(logits, {{.temperature = 1, .top_k = 1}}, kernel())[0], 99);
  logits.assign(100, -infinity);
  logits[40] = -300;
  EXPECT_EQ(draw(logits, {{}}, kernel())[0], 40);
  EXPECT_EQ(draw(logits, {{.temperature = 1}}, kernel())[0], 40);
}

TEST_P(sampling, refuses_broken_rows) {
  for (std::size_t at : {0u, 17u, 49u})
    for (float bad : {std::nanf(""), -std::nanf(""), infinity})
      for (float temperature : {0.0f, 1.0f}) {
        std::vector<float> logits(50, 1.0f);
        logits[at] = bad;
        EXPECT_EQ(draw(logits, {{.temperature = temperature}}, kernel())[0], -1);
      }
  EXPECT_EQ(draw(std::vector<float>(50, -infinity), {{}}, kernel())[0], -1);
  EXPECT_EQ(draw(std::vector<float>(50, -infinity), {{.temperature = 1}}, kernel())[0], -1);
}

TEST_P(sampling, depends_on_seed_and_position_alone) {
  std::vector<float> logits(1000);
  for (std::size_t i = 0; i < logits.size(); ++i) logits[i] = std::sin(float(i * i));
  std::vector<SampleControl> controls;
  for (std::uint64_t i = 0; i < 40; ++i) controls.push_back({.temperature = 1, .seed = i % 4, .position = i / 4});
  const auto together = draw(logits, controls, kernel());
  for (std::size_t i = 0; i < controls.size(); ++i) EXPECT_EQ(draw(logits, {controls[i]}, kernel())[0], together[i]);
}

INSTANTIATE_TEST_SUITE_P(kernels, sampling, testing::Bool(), [](const auto& cpu) { return cpu.param ? "cpu" : "ref"; });

}  // namespace
}  // namespace ridge::op
