// Passes change what a program costs, not what it computes: leaving any of them out gives the same logits, bit by bit.
#include <gtest/gtest.h>

#include <cstring>

#include "base/error.h"
#include "base/thread_pool.h"
#include "model/loaded.h"

namespace ridge::model {
namespace {

std::vector<float> logits_without(const std::vector<std::string>& passes, std::size_t* calls = nullptr,
                                  ir::Activations activations = ir::Activations::int8) {
  constexpr std::int64_t tokens = 21;
  ThreadPool pool(2);
  Loaded m(open(RIDGE_SOURCE_DIR "/tests/goldens/gguf/llama_256.q4_0.gguf"),
           {.activations = activations,
            .kv_dtype = DType::f32,
            .max_tokens = tokens,
            .max_rows = tokens,
            .context = tokens,
            .kv_blocks = 2,
            .kv_block_size = 16,
            .skip_passes = passes},
           pool);
  if (calls) *calls = m.program().calls().size();
  program::Executor& e = m.executor();
  const Batch& b = m.batch();
  auto ints = [&](ir::Value v) { return e.input(v).as<std::int32_t>(); };
  for (std::int32_t i = 0; i < tokens; ++i) {
    ints(b.tokens)[i] = 5 * i % 97;
    ints(b.positions)[i] = ints(b.slots)[i] = ints(b.wanted)[i] = i;
  }
  ints(b.sequences.query_start)[0] = 0, ints(b.sequences.query_start)[1] = tokens;
  ints(b.sequences.context_len)[0] = tokens;
  ints(b.sequences.block_table)[0] = 0, ints(b.sequences.block_table)[1] = 1;
  e.run();
  const View rows = e.output(m.logits());
  return {rows.as<float>(), rows.as<float>() + rows.rows() * rows.columns()};
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

TEST(passes, each_can_be_left_out_without_changing_a_bit) {
  std::size_t all_calls = 0;
  const std::vector<float> all = logits_without({}, &all_calls);
  for (const std::string name : {"merge_linears", "fuse_residual_norm", "fuse_quantize"}) {
    std::size_t calls = 0;
    EXPECT_TRUE(same_bits(logits_without({name}, &calls), all)) << name;
    EXPECT_GT(calls, all_calls) << name << " did nothing";
  }
  EXPECT_TRUE(same_bits(logits_without({"merge_linears", "fuse_residual_norm", "fuse_quantize"}), all));
}

TEST(passes, without_quantized_activations_the_result_is_the_exact_path_s) {
  const std::vector<float> exact = logits_without({}, nullptr, ir::Activations::f32);
  EXPECT_TRUE(same_bits(logits_without({"quantize_activations"}), exact));
  EXPECT_FALSE(same_bits(logits_without({}), exact));
}

TEST(passes, an_unknown_one_is_refused) { EXPECT_THROW(logits_without({"merge"}), Error); }

}  // namespace ridge::model
